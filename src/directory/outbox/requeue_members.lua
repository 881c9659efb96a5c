-- Makes one portion of the users with a pending membership of a group due. The group is a dead letter, so they no longer wait
-- for it.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { target, id (of the group), cursor, count }
-- RETURN {"requeued", next cursor}
-- NEEDS marks
local reply = redis.call('HSCAN', key('pendingMembers', p.target .. ':' .. p.id), p.cursor, 'COUNT', p.count)
-- The reply of HSCAN: the next cursor, and [user, sign, user, sign, ...].
for index = 1, #reply[2], 2 do requeue(p.target, 'User:' .. reply[2][index], EDIT) end
return { 'requeued', reply[1] }
