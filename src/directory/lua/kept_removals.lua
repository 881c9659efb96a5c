-- Makes removals of a member pending again that a rejected deactivation of the user kept, when that rejection ends.
-- NEEDS keys (key), pending_groups (set_removal), signs (KEPT_REMOVAL, TO_REMOVE)

-- Makes the removals of a user pending again that were kept with the account; removals that were rejected themselves stay. Returns
-- the refs of the groups from which a removal is pending now. `target`: the only one in `p.targets`.
local function resume_removals(target, user)
  local signs, groups = redis.call('HGETALL', key('pendingGroups', target .. ':' .. user)), {}
  for index = 1, #signs, 2 do
    local ref, sign = 'Group:' .. signs[index], signs[index + 1]
    local is_removal = sign == KEPT_REMOVAL or sign == TO_REMOVE
    local is_rejected = redis.call('ZSCORE', key('guardRejected', target .. ':removeMembers'), ref .. ' ' .. user)
    if is_removal and not is_rejected then
      set_removal(signs[index], user, TO_REMOVE)
      groups[#groups + 1] = ref
    end
  end
  return groups
end
