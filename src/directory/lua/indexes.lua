-- Adds and removes index entries of resources, and finds the holder of a value.
-- NEEDS entries

-- Returns family and holder of the first entry that another resource holds; nothing if there is none.
local function holder_of_another(entries, id)
  for _, entry in ipairs(entries) do
    local family = family_of(entry)
    local holder = not LOOKUPS[family] and redis.call('HGET', key(family), entry[2])
    if holder and holder ~= id then return family, holder end
  end
end

-- Lookup families hold ids joined by commas. Returns the text without one id.
local function without(held, id)
  local enclosed = ',' .. held .. ','
  local from, to = string.find(enclosed, ',' .. id .. ',', 1, true)
  if not from then return held end
  return string.sub(string.sub(enclosed, 1, from) .. string.sub(enclosed, to + 1), 2, -2)
end

local function drop_lookup(family, value, id)
  local rest = without(redis.call('HGET', key(family), value) or '', id)
  if rest == '' then return redis.call('HDEL', key(family), value) end
  redis.call('HSET', key(family), value, rest)
end

-- Adds an id; callers remove it first, so it cannot be there twice.
local function add_lookup(family, value, id)
  if redis.call('HSETNX', key(family), value, id) == 1 then return end
  redis.call('HSET', key(family), value, redis.call('HGET', key(family), value) .. ',' .. id)
end

local function drop_entries(entries, id)
  for _, entry in ipairs(entries) do
    local family = family_of(entry)
    if LOOKUPS[family] then drop_lookup(family, entry[2], id) else redis.call('HDEL', key(family), entry[2]) end
  end
end

local function add_entries(entries, id)
  for _, entry in ipairs(entries) do
    local family = family_of(entry)
    if LOOKUPS[family] then add_lookup(family, entry[2], id) else redis.call('HSET', key(family), entry[2], id) end
  end
end
