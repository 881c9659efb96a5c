-- Notes that the platform refused the first additions of users to a group, so that their additions count as never sent again
-- (`unsentMembers`, lua/pending_groups.lua).
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, group (its id), users (their ids) }
-- RETURN {"noted"}
-- NEEDS keys (key, p), signs (TO_ADD), spread (call_with)
local signs, unsent = call_with('HMGET', key('pendingMembers', p.target .. ':' .. p.group), p.users), {}
for place, user in ipairs(p.users) do
  if signs[place] == TO_ADD then unsent[#unsent + 1] = user end
end
if #unsent > 0 then call_with('SADD', key('unsentMembers', p.target .. ':' .. p.group), unsent) end
return { 'noted' }
