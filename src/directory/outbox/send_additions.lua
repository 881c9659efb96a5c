-- Notes that the additions of users to a group are about to be sent, so that the platform may have these members although no
-- answer arrives (`unsentMembers`, lua/pending_groups.lua).
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, group (its id), users (their ids) }
-- RETURN {"noted", [pending user, ...], [first user, ...]}. Pending: the addition is still pending; the source may have removed
--        the other users meanwhile. First: a pending user whose addition was never sent before.
-- NEEDS keys (key, p), signs (TO_ADD), spread (call_with)
local unsent, first = key('unsentMembers', p.target .. ':' .. p.group), {}
local signs, pending = call_with('HMGET', key('pendingMembers', p.target .. ':' .. p.group), p.users), {}
for place, user in ipairs(p.users) do
  local was_unsent = redis.call('SREM', unsent, user) == 1
  if signs[place] == TO_ADD then
    pending[#pending + 1] = user
    if was_unsent then first[#first + 1] = user end
  end
end
return { 'noted', pending, first }
