-- Reads the index entries of new users, and finds the values that other users have. The entries are in columns, one for each
-- family of entries.lua: a value, the id of its user, the next value, and so on. In a family of LOOKUPS several users may have the
-- value, so their ids are joined by commas.
-- NEEDS keys (key), entries (FAMILIES, LOOKUPS), spread (call_with, with_room)

-- Reply of a refused batch: 'refused', then id and reason of each refused user; and the set of these ids.
local refusals, is_refused = { 'refused' }, {}

-- Refuses a user for the first reason that is found; 'stale' if the user is stored already.
local function refuse(id, reason)
  if is_refused[id] then return end
  is_refused[id] = true
  refusals[#refusals + 1] = id
  refusals[#refusals + 1] = redis.call('HEXISTS', key('users'), id) == 1 and 'stale' or reason
end

-- Refuses users whose unique values are taken, and adds the holders of shared values to the ids in ARGV. `columns`: 'family
-- number of values' of each column, with the short names of entries.lua; `at`: position of the first column in ARGV. Returns
-- three values: { family, first, last position } of each column; keys of references that may wait for these users; and the number
-- of these keys. No reference waits for a value of LOOKUPS, because it identifies no user.
local function read_columns(columns, at)
  local indexes, references, awaited = {}, with_room(), 0
  for short, digits in string.gmatch(columns, '(%S+) (%d+)') do
    local size = tonumber(digits)
    local family, last, values = FAMILIES[short] or short, at + 2 * size - 1, with_room()
    for index = 1, size do
      local value = ARGV[at + 2 * index - 2]
      values[index] = value
      if not LOOKUPS[family] then
        awaited = awaited + 1
        references[awaited] = key('references', value)
      end
    end
    local holders = call_with('HMGET', key(family), values, 1, size)
    for index = 1, size do
      local holder, ids_at = holders[index], at + 2 * index - 1
      if holder and not LOOKUPS[family] then
        refuse(ARGV[ids_at], table.concat({ 'taken', family, holder }, ' '))
      elseif holder then
        ARGV[ids_at] = holder .. ',' .. ARGV[ids_at]
      end
    end
    indexes[#indexes + 1] = { family = family, first = at, last = last }
    at = last + 1
  end
  return indexes, references, awaited
end
