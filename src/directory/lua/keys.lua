-- Included in every script: names of keys, and state that the calls of one batch share.
-- KEYS[1] is the base of the connection's keys. `p` and `texts`: named arguments and texts of the current call.
local base = KEYS[1]
local p, texts
-- A dirty score is priority * SPAN + due milliseconds, so marks are sorted by priority and then by due time.
local SPAN = 10000000000000

-- Returns the key of a family, or of a family and an id (keys.ts).
local names = {}
local function key(family, id)
  if id then return base .. family .. ':' .. id end
  local name = names[family]
  if not name then
    name = base .. family
    names[family] = name
  end
  return name
end

-- The time is read once for each command.
local now_ms
local function clock()
  if now_ms then return now_ms end
  local time = redis.call('TIME')
  now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
  return now_ms
end
