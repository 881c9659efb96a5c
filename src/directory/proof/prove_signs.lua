-- Proves one portion of the pending memberships of a group (`pendingMembers`) or of a user (`pendingGroups`): both families hold the same
-- sign, and it does not contradict the membership. A wrong `+` is dropped, not turned into a removal: a reconcile finds
-- memberships that only the platform has.
-- KEYS base
-- ARGV { target, targets: [target], family: pendingMembers | pendingGroups, id (of the group, of the user), cursor, count, repair, request }
-- RETURN as prove_records.lua
-- NEEDS pending_groups, proof
local reply = redis.call('HSCAN', key(p.family, p.target .. ':' .. p.id), p.cursor, 'COUNT', p.count)

local function prove(group, user)
  local of_group, of_user = key('pendingMembers', p.target .. ':' .. group), key('pendingGroups', p.target .. ':' .. user)
  local one, other = redis.call('HGET', of_group, user), redis.call('HGET', of_user, group)
  local is_member = redis.call('SISMEMBER', key('members', group), user) == 1
  local sign = is_member and '+' or (one == '-' or other == '-') and '-' or (one == 'r' or other == 'r') and 'r' or nil
  if one == other and one == sign then return end
  local what = sign == nil and 'surplus' or one and other and 'wrong' or 'missing'
  fault(one == sign and 'pendingGroups' or 'pendingMembers', what, 'User:' .. user .. ' in Group:' .. group, function()
    if not sign then
      redis.call('HDEL', of_group, user)
      redis.call('HDEL', of_user, group)
    else
      redis.call('HSET', of_group, user, sign)
      redis.call('HSET', of_user, group, sign)
      -- Other groups may wait for the removal that the membership contradicts.
      if sign == '+' and (one == '-' or other == '-') then end_removal(p.target, group, user) end
    end
    mark_at(p.target, 'Group:' .. group, PRIORITY_RECONCILE, clock())
    requeue(p.target, 'User:' .. user, 3)
  end)
end

for index = 1, #reply[2], 2 do
  local other = reply[2][index]
  -- Unmanaged members (`@<platform id>`) are in `pendingMembers` only.
  if p.family == 'pendingGroups' then prove(other, p.id) elseif string.sub(other, 1, 1) ~= '@' then prove(p.id, other) end
end
return proved(reply[1], #reply[2] / 2)
