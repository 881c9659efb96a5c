-- Adds values of one process to the current slot of each range of several rings. A ring is a hash: place (slot number modulo the
-- number of slots) -> `slot number,value,value`. If the stored slot number is not the current one, the slot has expired, and its
-- values are replaced.
-- KEYS base
-- ARGV { rings (of name, kinds: "count" or "level" for each column), ranges (of name, stepMs, slots), pauseMs }, then for each
--      ring its values by column, separated by commas, an absent one empty
-- RETURN {"noted", 1 when this caller is to read the levels, else 0}
local now = clock()

local function split(text)
  local values = {}
  for value in string.gmatch(text .. ',', '([^,]*),') do values[#values + 1] = value end
  return values
end

-- Returns the stored value after one more value: the sum of counts, the maximum of levels; '' if there is none.
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
