-- Marks one portion of a group's members, because the group has a new name and a mapping reads the names of groups.
-- KEYS base
-- ARGV { id, targets, request, cursor, count }
-- RETURN {"marked", next cursor ('0': the last portion)}
-- NEEDS marks
local reply = redis.call('SSCAN', key('members', p.id), p.cursor, 'COUNT', p.count)
for _, user in ipairs(reply[2]) do mark('User:' .. user, 1) end
if reply[1] == '0' then redis.call('SREM', key('renamed'), p.id) end
return { 'marked', reply[1] }
