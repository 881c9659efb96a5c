-- Requeues one portion of the users with a pending membership of a group, because they do not wait for a blocked group.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { target, id, cursor, count }
-- RETURN {"requeued", next cursor ('0': the last portion)}
-- NEEDS marks
local reply = redis.call('HSCAN', key('pendingMembers', p.target .. ':' .. p.id), p.cursor, 'COUNT', p.count)
for index = 1, #reply[2], 2 do requeue(p.target, 'User:' .. reply[2][index], EDIT) end
return { 'requeued', reply[1] }
