-- Drops pending additions of one user, and marks groups that have a pending or unconfirmed removal of the user.
-- NEEDS keys (clock, EDIT, key), marks (mark_at), signs (TO_ADD, TO_REMOVE, UNCONFIRMED_REMOVAL)

-- Drops the pending additions of the user to groups.
local function drop_grants(target, user)
  local pending_groups = key('pendingGroups', target .. ':' .. user)
  for _, group in ipairs(redis.call('HKEYS', pending_groups)) do
    if redis.call('HGET', pending_groups, group) == TO_ADD then
      redis.call('HDEL', pending_groups, group)
      redis.call('HDEL', key('pendingMembers', target .. ':' .. group), user)
      redis.call('SREM', key('unsentMembers', target .. ':' .. group), user)
      redis.call('SREM', key('takenOutMembers', target .. ':' .. group), user)
    end
  end
end

-- Marks the deleted groups that still have an unconfirmed removal of the user, who turned out to have no account.
local function mark_deleted_groups(target, user)
  local signs = redis.call('HGETALL', key('pendingGroups', target .. ':' .. user))
  for index = 1, #signs, 2 do
    local is_deleted = redis.call('HEXISTS', key('groups'), signs[index]) == 0
    if is_deleted and signs[index + 1] == UNCONFIRMED_REMOVAL then mark_at(target, 'Group:' .. signs[index], EDIT, clock()) end
  end
end

-- Marks the groups from which the removal of the user is pending. `due`: later due time, so that one sync of a group
-- removes many leavers; nil: now.
local function mark_removals(target, user, due)
  local pending_groups = key('pendingGroups', target .. ':' .. user)
  for _, group in ipairs(redis.call('HKEYS', pending_groups)) do
    if redis.call('HGET', pending_groups, group) == TO_REMOVE then mark_at(target, 'Group:' .. group, EDIT, clock(), due) end
  end
end
