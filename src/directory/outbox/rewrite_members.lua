-- Makes one portion of a group's members pending additions, and renews the lease. The running sync either links the group to a
-- created or adopted group of the platform, or compares all its members anew. If the sync is killed, the stored link is unchanged,
-- so the next sync begins again.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, ref and id (of the group), fence, leaseMs, cursor, count, isNew (the platform group was created just now, so
--        it has no members), targets: [target], log (as append_log.lua) }
-- RETURN {"rewritten", next cursor} | {"fenced"}: the lease was lost
-- NEEDS keys (clock, key, p), log (write_log), pending_groups (set_pending_all), signs (TO_ADD)
write_log(p.target, p.log)
local lease = key('lease', p.target .. ':' .. p.ref)
if redis.call('GET', lease) ~= p.fence then return { 'fenced' } end
redis.call('PEXPIRE', lease, p.leaseMs)
redis.call('ZADD', key('inflight', p.target), clock() + p.leaseMs, p.ref)
local next_cursor, users = unpack(redis.call('SSCAN', key('members', p.id), p.cursor, 'COUNT', p.count))
-- SSCAN may return a member twice.
local members, seen = {}, {}
for _, user in ipairs(users) do
  if not seen[user] then members[#members + 1] = user end
  seen[user] = true
end
-- 'new': the platform cannot have these members yet (lua/pending_groups.lua).
set_pending_all(p.id, members, TO_ADD, p.isNew and 'new')
return { 'rewritten', next_cursor }
