-- Removes a group: tombstone, free indexes, all memberships noted for removal, dirty marks.
-- KEYS base
-- ARGV { id, expected, now, request, targets, groupsMatter, drop: [[family, value]] }
-- RETURN {"removed", version} | {"stale"} | {"missing"}
local stored = redis.call('HGET', key('groups'), p.id)
if not stored then return { 'missing' } end
local version = split(stored)
if version ~= p.expected then return { 'stale' } end

redis.call('HDEL', key('groups'), p.id)
redis.call('HDEL', key('groupNames'), p.id)
redis.call('ZREM', key('order', 'Group'), p.id)
for _, index in ipairs(p.drop) do redis.call('HDEL', key(index[1]), index[2]) end
redis.call('HSET', key('tombstones'), p.id, cjson.encode({ kind = 'Group', version = version, deletedAt = p.now }))
for _, user in ipairs(redis.call('SMEMBERS', key('members', p.id))) do part(p.id, user) end
for _, value in ipairs(redis.call('HKEYS', key('unresolved', p.id))) do unawait(p.id, value) end
mark('Group:' .. p.id, 1)
return { 'removed', version }
