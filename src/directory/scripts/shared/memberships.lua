-- Who is in which group, in both directions.
-- NEEDS indexes, owed, records
-- Adds or removes one membership in both directions; answers whether anything changed.
local function join(group, user)
  if redis.call('SADD', key('members', group), user) == 0 then return false end
  add_lookup('groupsOf', user, group)
  redis.call('INCR', key('memberCount'))
  owe(group, user, '+')
  if p.groupsMatter then mark('User:' .. user, 1) end
  return true
end

local function part(group, user)
  if redis.call('SREM', key('members', group), user) == 0 then return false end
  drop_lookup('groupsOf', user, group)
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
