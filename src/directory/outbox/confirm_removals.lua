-- Ends the unconfirmed removals (lua/signs.lua) of members whom the platform did not show in the group any more. A
-- group that was synced since it was read is left out: the source may have added and removed the same member meanwhile.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, ref and id (of the group), link (SHA-1 of its text), users (as in `pendingMembers`) }
-- RETURN {"confirmed", number of ended removals}
-- NEEDS keys (key, p), signs (UNCONFIRMED_REMOVAL)
local text = redis.call('HGET', key('links', p.target), p.ref) or ''
local is_syncing = redis.call('EXISTS', key('lease', p.target .. ':' .. p.ref)) == 1
if is_syncing or redis.sha1hex(text) ~= p.link then return { 'confirmed', 0 } end
local pending_members = key('pendingMembers', p.target .. ':' .. p.id)
local confirmed = 0
for _, user in ipairs(p.users) do
  if redis.call('HGET', pending_members, user) == UNCONFIRMED_REMOVAL then
    redis.call('HDEL', pending_members, user)
    redis.call('HDEL', key('pendingGroups', p.target .. ':' .. user), p.id)
    confirmed = confirmed + 1
  end
end
return { 'confirmed', confirmed }
