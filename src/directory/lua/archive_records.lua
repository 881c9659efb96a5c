-- Stores the records and tombstones of a backup, with their index entries. `family`: `users` or `groups`.
-- NEEDS keys (key), entries (entries_of), indexes (add_entries, drop_entries, holder_of_another), records (parse)

-- Numbers of stored items, and of items that were left out or replaced by a newer one.
local loaded, dropped = 0, 0
-- Counts an item as stored or left out.
local function count_item(is_loaded)
  if is_loaded then loaded = loaded + 1 else dropped = dropped + 1 end
end

-- Removes a record, which a newer one or a tombstone replaces, with its index entries.
local function drop_record(family, id)
  local record = parse(redis.call('HGET', key(family), id))
  drop_entries(entries_of(record), id)
  redis.call('HDEL', key(family), id)
  redis.call('HDEL', key('groupNames'), id)
end

-- Stores a record and returns true. Of two records with the same name the newer one is kept, because the older one was
-- renamed or deleted during the backup. Returns false when this record is the older one.
local function load_record(family, id, text)
  local record = parse(text)
  local former = redis.call('HGET', key(family), id)
  if former then drop_entries(entries_of(parse(former)), id) end
  local entries = entries_of(record)
  -- The record may have several names, and each may belong to another record.
  local taken_family, holder = holder_of_another(entries, id)
  while taken_family do
    local other = parse(redis.call('HGET', key(family), holder))
    local is_this_older = tonumber(other.modified) > tonumber(record.modified)
    if is_this_older then
      redis.call('HDEL', key(family), id)
      return false
    end
    drop_record(family, holder)
    dropped = dropped + 1
    taken_family, holder = holder_of_another(entries, id)
  end
  add_entries(entries, id)
  redis.call('HSET', key(family), id, text)
  if family == 'groups' then
    local is_readable, resource = pcall(cjson.decode, record.text)
    redis.call('HSET', key('groupNames'), id, is_readable and resource.displayName or '')
  end
  return true
end

-- Stores a tombstone, JSON with the `kind` of the resource, and returns true. A record with its id is removed, because the
-- resource was deleted during the backup.
local function load_tombstone(id, text)
  redis.call('HSET', key('tombstones'), id, text)
  local family = cjson.decode(text).kind == 'User' and 'users' or 'groups'
  if redis.call('HEXISTS', key(family), id) == 0 then return true end
  drop_record(family, id)
  dropped = dropped + 1
  return true
end
