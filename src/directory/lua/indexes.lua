-- Adds and removes index entries of resources, and finds the holder of a value. An entry is [family, value] (entries.lua). The
-- id of the holder is stored under the value; in a family of LOOKUPS a value may have several ids, joined by commas.
-- NEEDS keys (key), entries (family_of, LOOKUPS)

-- Returns family and holder of the first entry that another resource holds; nothing if there is none.
local function holder_of_another(entries, id)
  for _, entry in ipairs(entries) do
    local family, value = family_of(entry), entry[2]
    local is_unique = not LOOKUPS[family]
    local holder = is_unique and redis.call('HGET', key(family), value)
    if holder and holder ~= id then return family, holder end
  end
end

-- Returns comma-separated ids without one id.
local function without(joined_ids, id)
  local enclosed = ',' .. joined_ids .. ','
  -- Positions of the comma before the id and of the comma after it.
  local from, to = string.find(enclosed, ',' .. id .. ',', 1, true)
  if not from then return joined_ids end
  return string.sub(string.sub(enclosed, 1, from) .. string.sub(enclosed, to + 1), 2, -2)
end

-- Removes an id from a value of a lookup family.
local function drop_lookup(family, value, id)
  local rest = without(redis.call('HGET', key(family), value) or '', id)
  if rest == '' then return redis.call('HDEL', key(family), value) end
  redis.call('HSET', key(family), value, rest)
end

-- Adds an id to a value of a lookup family. Callers remove the id first, so it cannot be there twice.
local function add_lookup(family, value, id)
  if redis.call('HSETNX', key(family), value, id) == 1 then return end
  redis.call('HSET', key(family), value, redis.call('HGET', key(family), value) .. ',' .. id)
end

-- Removes the index entries of a resource, whose unique values it holds: they are removed without a look at the holder.
local function drop_entries(entries, id)
  for _, entry in ipairs(entries) do
    local family, value = family_of(entry), entry[2]
    if LOOKUPS[family] then drop_lookup(family, value, id) else redis.call('HDEL', key(family), value) end
  end
end

-- Adds the index entries of a resource. Callers ask `holder_of_another` first, because the value of another holder would be
-- overwritten.
local function add_entries(entries, id)
  for _, entry in ipairs(entries) do
    local family, value = family_of(entry), entry[2]
    if LOOKUPS[family] then add_lookup(family, value, id) else redis.call('HSET', key(family), value, id) end
  end
end
