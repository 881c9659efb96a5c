-- Makes one portion of the memberships of a group pending, so that they are written again. `readding` holds the groups whose
-- link was restored (prove_links.lua), each with the cursor of its next portion. So the next repair continues after a repair
-- that was killed.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, targets: [target], count, repair (false: nothing is written), request }
-- RETURN as prove_records.lua, built by `proved` (lua/proof.lua); the next cursor is '0' when `readding` is empty, else '1'. The
--        entries checked are members.
-- NEEDS keys (key, p, RECONCILE), marks (mark), pending_groups (set_pending_all), proof (proved), signs (TO_ADD)
local name = key('readding', p.target)
local group = p.repair and redis.call('HRANDFIELD', name)
if not group then return proved('0', 0) end

local next_cursor, users = unpack(redis.call('SSCAN', key('members', group), redis.call('HGET', name, group), 'COUNT', p.count))
-- SSCAN may return a member twice.
local members, seen = {}, {}
for _, user in ipairs(users) do
  if not seen[user] then members[#members + 1] = user end
  seen[user] = true
end
set_pending_all(group, members, TO_ADD)
mark('Group:' .. group, RECONCILE)
if next_cursor == '0' then redis.call('HDEL', name, group) else redis.call('HSET', name, group, next_cursor) end
return proved(redis.call('EXISTS', name) == 1 and '1' or '0', #users)
