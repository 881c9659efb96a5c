-- Changes the pending memberships of one user after the sync has decided about the account.
-- NEEDS marks

-- Drops the memberships that the user was to gain.
local function drop_grants(target, user)
  local pending_groups = key('pendingGroups', target .. ':' .. user)
  for _, group in ipairs(redis.call('HKEYS', pending_groups)) do
    if redis.call('HGET', pending_groups, group) == '+' then
      redis.call('HDEL', pending_groups, group)
      redis.call('HDEL', key('pendingMembers', target .. ':' .. group), user)
    end
  end
end

-- Marks the groups that remove the user. They become due a little later, so that one sync removes many leavers.
local function mark_removals(target, user, due)
  local pending_groups = key('pendingGroups', target .. ':' .. user)
  for _, group in ipairs(redis.call('HKEYS', pending_groups)) do
    if redis.call('HGET', pending_groups, group) == '-' then mark_at(target, 'Group:' .. group, 1, clock(), due) end
  end
end
