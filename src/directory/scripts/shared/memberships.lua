-- Who is in which group, in both directions.
-- NEEDS forms, indexes, owed, records
local function shorten_groups_of(user)
  local former = key('memberships', user)
  if redis.call('EXISTS', former) == 0 then return end
  for _, group in ipairs(redis.call('SMEMBERS', former)) do add_lookup('groupsOf', user, group) end
  redis.call('DEL', former)
end

local function add_group_of(user, group)
  if not writes_short() then return redis.call('SADD', key('memberships', user), group) end
  shorten_groups_of(user)
  add_lookup('groupsOf', user, group)
end

local function drop_group_of(user, group)
  if not writes_short() then return redis.call('SREM', key('memberships', user), group) end
  shorten_groups_of(user)
  drop_lookup('groupsOf', user, group)
end

-- Adds or removes one membership in both directions; answers whether anything changed.
local function join(group, user)
  if redis.call('SADD', key('members', group), user) == 0 then return false end
  add_group_of(user, group)
  redis.call('INCR', key('memberCount'))
  owe(group, user, '+')
  if p.groupsMatter then mark('User:' .. user, 1) end
  return true
end

local function part(group, user)
  if redis.call('SREM', key('members', group), user) == 0 then return false end
  drop_group_of(user, group)
  redis.call('DECR', key('memberCount'))
  owe(group, user, '-')
  if p.groupsMatter then mark('User:' .. user, 1) end
  return true
end

-- A new version of a record whose text stays the same (its members changed).
local function bump(family, id)
  local stored = redis.call('HGET', key(family), id)
  if stored then
    local record = parse(stored)
    record.version = record.version + 1
    store(family, id, record)
    if p.events then
      -- NEEDS telling
      tell('Group', id, record, { text = record.text, method = 'patch', members = true })
    end
  end
end
