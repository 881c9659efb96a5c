-- Notes that the additions of users to a group are about to be sent, so that the platform may have these members although no
-- answer arrives (`unsentMembers`, lua/pending_groups.lua).
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { target, group (its id), users (their ids) }
-- RETURN {"noted", users whose addition is still pending: the source may have removed the others meanwhile}
-- NEEDS signs, spread
call_with('SREM', key('unsentMembers', p.target .. ':' .. p.group), p.users)
local signs, pending = call_with('HMGET', key('pendingMembers', p.target .. ':' .. p.group), p.users), {}
for place, user in ipairs(p.users) do
  if signs[place] == TO_ADD then pending[#pending + 1] = user end
end
return { 'noted', pending }
