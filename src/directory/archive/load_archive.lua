-- Restores one line of a backup (archive.ts). Derived data (indexes, reverse links, both directions of memberships) is built
-- again, so that a backup that was taken during pushes still gives a consistent store.
-- KEYS base
-- ARGV { family, id, target, items, key, type (of a plain key) }
-- RETURN {"loaded", number of restored items, number of items left out: unreferenced, or with a name that a newer record has}
-- NEEDS references
local loaded, dropped = 0, 0
local function count(is_loaded)
  if is_loaded then loaded = loaded + 1 else dropped = dropped + 1 end
end

local function drop_record(family, id)
  local record = parse(redis.call('HGET', key(family), id))
  drop_entries(entries_of(record), id)
  redis.call('HDEL', key(family), id)
  redis.call('HDEL', key('groupNames'), id)
end

-- Of two records with one name the newer one gets it: the other was renamed or deleted during the backup.
local function load_record(family, id, text)
  local record = parse(text)
  local former = redis.call('HGET', key(family), id)
  if former then drop_entries(entries_of(parse(former)), id) end
  local entries = entries_of(record)
  local taken, holder = holder_of_another(entries, id)
  while taken do
    local other = parse(redis.call('HGET', key(family), holder))
    if tonumber(other.modified) > tonumber(record.modified) then
      redis.call('HDEL', key(family), id)
      return false
    end
    drop_record(family, holder)
    dropped = dropped + 1
    taken, holder = holder_of_another(entries, id)
  end
  add_entries(entries, id)
  redis.call('HSET', key(family), id, text)
  if family == 'groups' then
    local done, resource = pcall(cjson.decode, record.text)
    redis.call('HSET', key('groupNames'), id, done and resource.displayName or '')
  end
  return true
end

-- A resource that was deleted during the backup must not be restored.
local function load_tombstone(id, text)
  redis.call('HSET', key('tombstones'), id, text)
  local family = cjson.decode(text).kind == 'User' and 'users' or 'groups'
  if redis.call('HEXISTS', key(family), id) == 0 then return true end
  drop_record(family, id)
  dropped = dropped + 1
  return true
end

local function load_place(id, place)
  local family = p.id == 'User' and 'users' or 'groups'
  if redis.call('HEXISTS', key(family), id) == 0 then return false end
  redis.call('ZADD', key('order', p.id), place, id)
  return true
end

local function load_member(user)
  local is_known = redis.call('HEXISTS', key('groups'), p.id) == 1 and redis.call('HEXISTS', key('users'), user) == 1
  if is_known and redis.call('SADD', key('members', p.id), user) == 1 then
    add_lookup('groupsOf', user, p.id)
    count_members(p.id, 1)
  end
  return is_known
end

local function load_link(ref, text)
  local link, kind = cjson.decode(text), string.match(ref, '^(%a+)')
  redis.call('HSET', key('links', p.target), ref, text)
  if link.id then redis.call('HSET', key('linked', p.target), kind .. ':' .. link.id, ref) end
  return true
end

local function load_sign(user, sign)
  redis.call('HSET', key('pendingMembers', p.target .. ':' .. p.id), user, sign)
  if string.sub(user, 1, 1) ~= '@' then redis.call('HSET', key('pendingGroups', p.target .. ':' .. user), p.id, sign) end
  return true
end

local function load_plain(item)
  if p.type == 'string' then redis.call('SET', key(p.key), item)
  elseif p.type == 'hash' then redis.call('HSET', key(p.key), item[1], item[2])
  elseif p.type == 'set' then redis.call('SADD', key(p.key), item)
  elseif p.type == 'zset' then redis.call('ZADD', key(p.key), item[2], item[1])
  elseif p.type == 'list' then redis.call('RPUSH', key(p.key), item)
  elseif p.type == 'stream' then redis.call('XADD', key(p.key), item[1], unpack(item[2])) end
  return true
end

for _, item in ipairs(p.items) do
  if p.family == 'users' or p.family == 'groups' then count(load_record(p.family, item[1], item[2]))
  elseif p.family == 'tombstones' then count(load_tombstone(item[1], item[2]))
  elseif p.family == 'order' then count(load_place(item[1], item[2]))
  elseif p.family == 'newcomers' then
    -- Created during the backup, after the order was read.
    local is_new = not redis.call('ZSCORE', key('order', p.id), item)
    if is_new then redis.call('ZADD', key('order', p.id), next_number(), item) end
    count(is_new)
  elseif p.family == 'members' then count(load_member(item))
  elseif p.family == 'unresolved' then count(await(p.id, item[1], item[2]))
  elseif p.family == 'links' then count(load_link(item[1], item[2]))
  elseif p.family == 'pendingMembers' then count(load_sign(item[1], item[2]))
  else count(load_plain(item)) end
end
return { 'loaded', loaded, dropped }
