-- Adds values of one process to several rings: for each range to the current slot. A ring is a hash: place (slot number
-- modulo number of slots) -> `slot number,value,value`. If the slot number at the place is an older one, its values are
-- replaced.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { rings: [{ name, kinds: "count" or "level" of each column }], ranges: [{ name, stepMs, slots }], pauseMs }, then for
--      each ring its values by column, separated by commas; an absent value is empty
-- RETURN {"noted", 1: the caller reads the levels (backlog, dead letters and so on: slots.ts) for the whole fleet | 0}
local now = clock()

local function split(text)
  local values = {}
  for value in string.gmatch(text .. ',', '([^,]*),') do values[#values + 1] = value end
  return values
end

-- Returns the value to store: of counts the sum, of levels the maximum; '' if there is no value.
local function merged(kind, before, value)
  if value == '' then return before or '' end
  if not before or before == '' then return value end
  if kind == 'count' then return string.format('%.0f', before + value) end
  return string.format('%.0f', math.max(tonumber(before), tonumber(value)))
end

for index, ring in ipairs(p.rings) do
  local given = split(texts[index])
  for _, range in ipairs(p.ranges) do
    local name = key('ring', range.name .. ':' .. ring.name)
    local slot = math.floor(now / range.stepMs)
    local place, number = string.format('%d', slot % range.slots), string.format('%d', slot)
    local kept = split(redis.call('HGET', name, place) or '')
    if kept[1] ~= number then kept = {} end
    local values = { number }
    for column, kind in ipairs(ring.kinds) do
      values[column + 1] = merged(kind, kept[column + 1], given[column])
    end
    redis.call('HSET', name, place, table.concat(values, ','))
    redis.call('PEXPIRE', name, range.stepMs * range.slots)
  end
end
-- The first caller after each pause reads the levels for the whole fleet.
local is_due = redis.call('SET', key('levelsRead'), '1', 'NX', 'PX', p.pauseMs)
return { 'noted', is_due and 1 or 0 }
