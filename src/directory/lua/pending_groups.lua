-- Keeps pending memberships: memberships that are not yet written at a target. A membership has a sign (signs.lua):
-- `pendingMembers` has the signs by group and user, `pendingGroups` the same signs by user and group. An unmanaged member is in
-- `pendingMembers` only.
-- NEEDS guard_items, marks, signs, spread

-- Makes the resources due that waited for the removal of a user from a group: the user and, if no other removal is pending, the
-- groups that wait to add the user.
local function end_removal(target, group, user)
  requeue(target, 'User:' .. user, EDIT)
  local signs, waiting = redis.call('HGETALL', key('pendingGroups', target .. ':' .. user)), {}
  for index = 1, #signs, 2 do
    local other, sign = signs[index], signs[index + 1]
    if sign == TO_REMOVE then return end
    if sign == TO_ADD and other ~= group then waiting[#waiting + 1] = other end
  end
  local now = clock()
  for _, other in ipairs(waiting) do mark_at(target, 'Group:' .. other, EDIT, now) end
end

-- Stores a sign for distinct users of a group at every target. If it replaces a pending removal, resources that wait for that
-- removal become due; nothing waits for a removal that is not written. If the members are wanted again, the guard's decision
-- about their removal ends.
local function set_pending_all(group, users, sign)
  if #users == 0 then return end
  for _, target in ipairs(p.targets) do
    local pending_members = key('pendingMembers', target .. ':' .. group)
    -- Only an addition replaces a removal, so the former signs are read only then.
    local before = sign == TO_ADD and call_with('HMGET', pending_members, users) or {}
    local signs = {}
    for place, user in ipairs(users) do
      if not is_unmanaged(user) then redis.call('HSET', key('pendingGroups', target .. ':' .. user), group, sign) end
      signs[2 * place - 1], signs[2 * place] = user, sign
    end
    call_with('HSET', pending_members, signs)
    for place, user in ipairs(users) do
      local former = before[place]
      if former == TO_REMOVE then end_removal(target, group, user) end
      if former == TO_REMOVE or former == KEPT_REMOVAL then take_back(target, 'Group:' .. group, 'removeMembers', user) end
    end
  end
end

local function set_pending(group, user, sign) set_pending_all(group, { user }, sign) end

-- Stores the removal of a user with this sign, unless the user is a desired member of the group.
local function set_removal(group, user, sign)
  if redis.call('SISMEMBER', key('members', group), user) == 0 then set_pending(group, user, sign) end
end

-- Ends the removal of a member with the guard's decision about it. Returns its sign; nil: there is none.
local function end_decided_removal(target, group, user)
  local pending_members = key('pendingMembers', target .. ':' .. group)
  local sign = redis.call('HGET', pending_members, user)
  if not sign or sign == TO_ADD then return nil end
  redis.call('HDEL', pending_members, user)
  redis.call('HDEL', key('pendingGroups', target .. ':' .. user), group)
  drop_item(target, 'Group:' .. group, 'removeMembers', user)
  end_removal(target, group, user)
  return sign
end
