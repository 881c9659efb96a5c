-- Adds values of one process to the history for the plots of the operators' page (slots.ts). The history of a name has one ring
-- for each range (last hour, day, month). A ring is a hash with a fixed number of slots; a slot is one step of time, with the
-- number time / step. It is stored at the place slot number modulo number of slots, as 'slot number,value,value', one value for
-- each column. A place with an older slot number is overwritten.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { rings: [{ name (kind.name), columnTypes: of each column "count" (of events) or "level" (a present number) }],
--        ranges: [{ name, stepMs, slots (their number) }], pauseMs (between two reads of the levels) }, then for each ring its
--        values by column, separated by commas; an absent value is empty
-- RETURN {"noted", 1: the caller reads the levels (backlog, dead letters and so on: slots.ts) for the whole fleet | 0}
-- NEEDS keys (clock, key, p, texts)
local now = clock()

-- Returns the parts of a text between commas.
local function split(text)
  local values = {}
  for value in string.gmatch(text .. ',', '([^,]*),') do values[#values + 1] = value end
  return values
end

-- Returns the value to store: of counts the sum, of levels the maximum; '' if there is no value.
local function merged(column_type, before, value)
  if value == '' then return before or '' end
  if not before or before == '' then return value end
  if column_type == 'count' then return string.format('%.0f', before + value) end
  return string.format('%.0f', math.max(tonumber(before), tonumber(value)))
end

for index, ring in ipairs(p.rings) do
  local given = split(texts[index])
  for _, range in ipairs(p.ranges) do
    local name = key('ring', range.name .. ':' .. ring.name)
    local slot = math.floor(now / range.stepMs)
    local place, number = string.format('%d', slot % range.slots), string.format('%d', slot)
    local stored = split(redis.call('HGET', name, place) or '') -- { slot number, value, value, ... }
    local is_this_slot = stored[1] == number
    if not is_this_slot then stored = {} end
    local values = { number }
    for column, column_type in ipairs(ring.columnTypes) do
      values[column + 1] = merged(column_type, stored[column + 1], given[column])
    end
    redis.call('HSET', name, place, table.concat(values, ','))
    redis.call('PEXPIRE', name, range.stepMs * range.slots)
  end
end
-- The first process after each pause reads the levels for the whole fleet: this key exists during the pause.
local is_due = redis.call('SET', key('levelsRead'), '1', 'NX', 'PX', p.pauseMs)
return { 'noted', is_due and 1 or 0 }
