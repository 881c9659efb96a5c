-- Makes one portion of the users with a pending membership of a group due. The group is a dead letter, so they no longer wait
-- for it.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, id (of the group), cursor, count }
-- RETURN {"requeued", next cursor}
-- NEEDS keys (EDIT, key, p), marks (requeue)
local next_cursor, signs = unpack(redis.call('HSCAN', key('pendingMembers', p.target .. ':' .. p.id), p.cursor,
  'COUNT', p.count))
-- [user, sign, user, sign, ...]
for index = 1, #signs, 2 do requeue(p.target, 'User:' .. signs[index], EDIT) end
return { 'requeued', next_cursor }
