-- Removes a user: tombstone, free indexes, out of every group, dirty marks for all that changed.
-- KEYS base
-- ARGV { id, expected, now, request, targets, groupsMatter, drop: [[family, value]], dropEmails }
-- RETURN {"removed", version} | {"stale"} | {"missing"}
local stored = redis.call('HGET', key('users'), p.id)
if not stored then return { 'missing' } end
local version = split(stored)
if version ~= p.expected then return { 'stale' } end

redis.call('HDEL', key('users'), p.id)
redis.call('ZREM', key('order', 'User'), p.id)
for _, index in ipairs(p.drop) do redis.call('HDEL', key(index[1]), index[2]) end
for _, address in ipairs(p.dropEmails) do drop_lookup('emails', address, p.id) end
redis.call('HSET', key('tombstones'), p.id, cjson.encode({ kind = 'User', version = version, deletedAt = p.now }))
p.groupsMatter = false
for _, group in ipairs(redis.call('SMEMBERS', key('memberships', p.id))) do
  part(group, p.id)
  bump('groups', group)
  mark('Group:' .. group, 1)
end
mark('User:' .. p.id, 0)
return { 'removed', version }
