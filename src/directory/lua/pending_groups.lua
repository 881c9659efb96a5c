-- Functions for pending memberships: memberships that are not yet written at a target.
-- NEEDS guard_items, marks, spread

-- Follows the end of a pending removal: requeues the user and, if no other removal is pending, marks the groups that wait to
-- add the user.
local function end_removal(target, group, user)
  requeue(target, 'User:' .. user, 1)
  local signs, waiting = redis.call('HGETALL', key('pendingGroups', target .. ':' .. user)), {}
  for index = 1, #signs, 2 do
    if signs[index + 1] == '-' then return end
    if signs[index + 1] == '+' and signs[index] ~= group then waiting[#waiting + 1] = signs[index] end
  end
  local now = clock()
  for _, other in ipairs(waiting) do mark_at(target, 'Group:' .. other, 1, now) end
end

-- Stores pending additions ('+'), removals ('-') or kept removals ('r': rejected, or of a protected user) of distinct users at
-- every target. Nothing waits for a kept removal. Unmanaged members (`@<platform id>`) are in `pendingMembers` only.
local function set_pending_all(group, users, sign)
  if #users == 0 then return end
  for _, target in ipairs(p.targets) do
    local pending_members = key('pendingMembers', target .. ':' .. group)
    -- `pendingGroups` has the same pending memberships by user.
    local before = sign == '+' and call_with('HMGET', pending_members, users) or {}
    local signs = {}
    for place, user in ipairs(users) do
      if string.sub(user, 1, 1) ~= '@' then redis.call('HSET', key('pendingGroups', target .. ':' .. user), group, sign) end
      signs[2 * place - 1], signs[2 * place] = user, sign
    end
    call_with('HSET', pending_members, signs)
    for place, user in ipairs(users) do
      if before[place] == '-' then end_removal(target, group, user) end
      if before[place] == '-' or before[place] == 'r' then take_back(target, 'Group:' .. group, 'removeMembers', user) end
    end
  end
end

local function set_pending(group, user, sign) set_pending_all(group, { user }, sign) end

-- Makes the removal of a user pending with the sign '-' or 'r', unless the user is a desired member of the group.
local function set_removal(group, user, sign)
  if redis.call('SISMEMBER', key('members', group), user) == 0 then set_pending(group, user, sign) end
end

-- Ends the pending removal of a member with the guard's decision about it. Returns whether there was one.
local function end_decided_removal(target, group, user)
  local pending_members = key('pendingMembers', target .. ':' .. group)
  local sign = redis.call('HGET', pending_members, user)
  if not sign or sign == '+' then return false end
  redis.call('HDEL', pending_members, user)
  redis.call('HDEL', key('pendingGroups', target .. ':' .. user), group)
  drop_item(target, 'Group:' .. group, 'removeMembers', user)
  end_removal(target, group, user)
  return true
end
