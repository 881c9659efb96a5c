-- Calls Redis commands with many values.

-- Largest number of values in one `unpack`, which Lua limits; a group may have more members.
local MOST_VALUES = 4000

-- Creates a table with 16 places, which avoids reallocations while it is filled. The places hold zeros: fill it from index 1, and
-- count the values, because `#` counts the zeros too.
local function with_room() return { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } end

-- Calls a command with the key `name` and `values[first..last]`, at least one value, in several calls if they are more than
-- MOST_VALUES, which is even, so that pairs stay together. Returns the reply, or of several calls their lists as one list; numeric
-- replies are left out.
local function call_with(command, name, values, first, last)
  first, last = first or 1, last or #values
  if last - first < MOST_VALUES then return redis.call(command, name, unpack(values, first, last)) end
  local replies = {}
  for from = first, last, MOST_VALUES do
    local reply = redis.call(command, name, unpack(values, from, math.min(from + MOST_VALUES - 1, last)))
    for _, each in ipairs(type(reply) == 'table' and reply or {}) do replies[#replies + 1] = each end
  end
  return replies
end

-- Returns whether one of the first `count` keys exists.
local function any_exists(names, count)
  for from = 1, count, MOST_VALUES do
    if redis.call('EXISTS', unpack(names, from, math.min(from + MOST_VALUES - 1, count))) > 0 then return true end
  end
  return false
end
