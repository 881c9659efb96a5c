-- Functions that store one item of a backup line and build its derived data. Each reads the line from `p` (load_archive.lua),
-- and returns whether the item was stored.
-- NEEDS keys (key, p), indexes (add_lookup), member_sum (count_members), signs (is_unmanaged)

-- Stores the place of a resource in the order of creation. `p.id`: kind.
local function load_place(id, place)
  local family = p.id == 'User' and 'users' or 'groups'
  if redis.call('HEXISTS', key(family), id) == 0 then return false end
  redis.call('ZADD', key('order', p.id), place, id)
  return true
end

-- Stores a membership of the group `p.id`, unless the group or the user was deleted during the backup.
local function load_member(user)
  local is_known = redis.call('HEXISTS', key('groups'), p.id) == 1 and redis.call('HEXISTS', key('users'), user) == 1
  if is_known and redis.call('SADD', key('members', p.id), user) == 1 then
    add_lookup('groupsOf', user, p.id)
    count_members(p.id, 1)
  end
  return is_known
end

-- Stores a link with its reverse link. `text`: the link as JSON, with the platform id in `id` (link.ts).
local function load_link(ref, text)
  local link, kind = cjson.decode(text), string.match(ref, '^(%a+)')
  redis.call('HSET', key('links', p.target), ref, text)
  if link.id then redis.call('HSET', key('linked', p.target), kind .. ':' .. link.id, ref) end
  return true
end

-- Stores a pending membership of the group `p.id`; `sign` as in signs.lua. An unmanaged member is no stored user, so it has no
-- entry in `pendingGroups`.
local function load_sign(user, sign)
  redis.call('HSET', key('pendingMembers', p.target .. ':' .. p.id), user, sign)
  if not is_unmanaged(user) then redis.call('HSET', key('pendingGroups', p.target .. ':' .. user), p.id, sign) end
  return true
end

-- Time for which a restored list of chosen changes is kept. Only a decision that was half carried out at the backup needs it
-- (guard_move.lua). Other lists are of first approvals, which no backup has, or led to no decision.
local CHOICE_MS = 24 * 3600 * 1000

-- Stores an item of a key that is restored as it was. `p.key`: the key without the key base; `p.type`: its Redis type.
-- `item`: text of a string, member of a set, element of a list, [field, value], [member, score], or [entry id, fields].
local function load_plain(item)
  local name = key(p.key)
  if p.type == 'string' then redis.call('SET', name, item)
  elseif p.type == 'set' then redis.call('SADD', name, item)
  elseif p.type == 'list' then
    redis.call('RPUSH', name, item)
    if string.find(p.key, '^guardChoice:') then redis.call('PEXPIRE', name, CHOICE_MS) end
  else
    local first, second = unpack(item)
    if p.type == 'hash' then redis.call('HSET', name, first, second)
    elseif p.type == 'zset' then redis.call('ZADD', name, second, first)
    elseif p.type == 'stream' then redis.call('XADD', name, first, unpack(second)) end
  end
  return true
end
