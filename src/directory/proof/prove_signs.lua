-- Proves one portion of the pending memberships of a group (`pendingMembers`) or of a user (`pendingGroups`). Both families
-- must hold the same sign, and the sign must agree with the membership. A wrong addition is dropped and does not become a
-- removal, because a reconcile finds memberships that only the platform has.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, targets: [target], family: pendingMembers | pendingGroups, id (of the group; for pendingGroups of the user),
--        cursor, count, repair (whether faults are repaired), request }
-- RETURN {"proved", next cursor, entries checked, [faults: prove_records.lua]}. lua/proof.lua: `fault` notes one, `proved` replies
-- NEEDS keys (clock, key, p, RECONCILE), marks (mark_at, requeue), pending_groups (end_removal), proof (fault, proved)
-- NEEDS signs (is_unmanaged, KEPT_REMOVAL, TO_ADD, TO_REMOVE, UNCONFIRMED_REMOVAL)
local next_cursor, signs = unpack(redis.call('HSCAN', key(p.family, p.target .. ':' .. p.id), p.cursor, 'COUNT', p.count))

-- Proves the sign of one membership (lua/signs.lua). The right sign of a desired membership is TO_ADD; of any other the sign of a
-- removal, or none.
local function prove(group, user)
  local of_group, of_user = key('pendingMembers', p.target .. ':' .. group), key('pendingGroups', p.target .. ':' .. user)
  local group_sign, user_sign = redis.call('HGET', of_group, user), redis.call('HGET', of_user, group)
  local function has(wanted) return group_sign == wanted or user_sign == wanted end
  -- The right sign; nil: none. If the families disagree about a removal, the sign that is tested first wins, so that no removal is
  -- lost.
  local sign
  if redis.call('SISMEMBER', key('members', group), user) == 1 then sign = TO_ADD
  elseif has(TO_REMOVE) then sign = TO_REMOVE
  elseif has(KEPT_REMOVAL) then sign = KEPT_REMOVAL
  elseif has(UNCONFIRMED_REMOVAL) then sign = UNCONFIRMED_REMOVAL end
  if group_sign == user_sign and group_sign == sign then return end
  local what = 'missing'
  if not sign then what = 'surplus' elseif group_sign and user_sign then what = 'wrong' end
  local family = group_sign == sign and 'pendingGroups' or 'pendingMembers'
  fault(family, what, 'User:' .. user .. ' in Group:' .. group, function()
    if not sign then
      redis.call('HDEL', of_group, user)
      redis.call('HDEL', of_user, group)
      redis.call('SREM', key('unsentMembers', p.target .. ':' .. group), user)
    else
      redis.call('HSET', of_group, user, sign)
      redis.call('HSET', of_user, group, sign)
      -- The user is a member, so the pending removal ends. Groups that wait for it before they add the user become due.
      if sign == TO_ADD and has(TO_REMOVE) then end_removal(p.target, group, user) end
    end
    mark_at(p.target, 'Group:' .. group, RECONCILE, clock())
    -- Nothing of the user itself changed: only a mark that waits for this membership becomes due.
    requeue(p.target, 'User:' .. user, RECONCILE)
  end)
end

for index = 1, #signs, 2 do
  local other = signs[index]
  -- Unmanaged members are in `pendingMembers` only.
  if p.family == 'pendingGroups' then prove(other, p.id) elseif not is_unmanaged(other) then prove(p.id, other) end
end
return proved(next_cursor, #signs / 2)
