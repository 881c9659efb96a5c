-- Keeps pending memberships: memberships that are not yet written at a target. A membership has a sign (signs.lua):
-- `pendingMembers` has the signs by group and user, `pendingGroups` the same signs by user and group. An unmanaged member is in
-- `pendingMembers` only. `unsentMembers` has the users of a group whose addition was never sent to the platform: it is
-- pending, or the policy `create-only` left it out (then it has no sign).
-- NEEDS keys (clock, EDIT, key, p), guard_items (drop_item, take_back), heirs (MAY_BE_FREE, wake_heirs), marks (mark_at, requeue)
-- NEEDS signs (is_unmanaged, KEPT_REMOVAL, TO_ADD, TO_REMOVE), spread (call_with)

-- Makes the resources due that waited for the removal of a user from a group: the user; if no other removal is pending, also the
-- groups that wait to add the user, and the heirs of the account. Called after the sign of this removal is cleared or replaced.
local function end_removal(target, group, user)
  -- The user did not change, so its mark only becomes due (marks.lua).
  requeue(target, 'User:' .. user, EDIT)
  local signs, waiting = redis.call('HGETALL', key('pendingGroups', target .. ':' .. user)), {}
  for index = 1, #signs, 2 do
    local other, sign = signs[index], signs[index + 1]
    if sign == TO_REMOVE then return end
    if sign == TO_ADD and other ~= group then waiting[#waiting + 1] = other end
  end
  -- A new holder may wait for the account, to inherit no membership with it.
  wake_heirs(target, 'User:' .. user, MAY_BE_FREE)
  local now = clock()
  for _, other in ipairs(waiting) do mark_at(target, 'Group:' .. other, EDIT, now) end
end

-- Called for users whose removal from a group becomes pending. Ends their additions that were never sent: the platform does not
-- have these members, so there is nothing to remove. Returns the other users. An adopted group may have had the members before, so
-- additions are ended only for a group that the bridge created (`o` of its link is `c`, link.ts). Comparisons read the group again
-- (`groupsSeen`), because somebody may have added the member at the platform meanwhile.
local function end_unsent(target, group, users)
  local unsent = key('unsentMembers', target .. ':' .. group)
  if redis.call('EXISTS', unsent) == 0 then return users end
  -- A damaged link must not fail the push half-way.
  local link = redis.call('HGET', key('links', target), 'Group:' .. group)
  local is_read, known = pcall(cjson.decode, link or '')
  local is_created = is_read and type(known) == 'table' and type(known.id) == 'string' and known.o == 'c'
  if not is_created then return users end
  local pending_members, others = key('pendingMembers', target .. ':' .. group), {}
  for _, user in ipairs(users) do
    local is_unsent, sign = redis.call('SREM', unsent, user) == 1, redis.call('HGET', pending_members, user)
    -- The policy `create-only` may have left the addition out. Then it is not pending, and the member is removed as others are.
    if is_unsent and sign == TO_ADD then
      redis.call('HDEL', pending_members, user)
      redis.call('HDEL', key('pendingGroups', target .. ':' .. user), group)
      redis.call('HDEL', key('groupsSeen', target), 'Group:' .. group)
      -- A safe activation of the user may have waited for this addition.
      requeue(target, 'User:' .. user, EDIT)
    else
      others[#others + 1] = user
    end
  end
  return others
end

-- Stores a sign for distinct users of a group at a target. If it replaces a pending removal (TO_REMOVE), resources that wait for
-- that removal become due; nothing waits for a kept or an unconfirmed removal. If the members are wanted again, the guard's
-- decision about their removal ends. `absence`, of additions: why the platform has no such members yet, unless an earlier sign says
-- otherwise: `joined`, the users were no members at the source until now; `new`, the group or the account was created at the
-- platform just now; nil: it may have them.
local function set_pending_at(target, group, users, sign, absence)
  if #users == 0 then return end
  local pending_members = key('pendingMembers', target .. ':' .. group)
  -- Only an addition replaces a removal, so the former signs are read only then.
  local before = sign == TO_ADD and call_with('HMGET', pending_members, users) or {}
  -- `returned NUMBER` in `mapped` (note_anew.lua): the target came back into the settings. It may still have users who join now:
  -- the source may have removed them while the target was out of the settings.
  local is_returned = string.match(redis.call('GET', key('mapped', target)) or '', '^returned')
  local signs, unsent, maybe_sent = {}, {}, {}
  for place, user in ipairs(users) do
    if not is_unmanaged(user) then redis.call('HSET', key('pendingGroups', target .. ':' .. user), group, sign) end
    signs[2 * place - 1], signs[2 * place] = user, sign
    -- With an earlier sign an addition may have been sent (a target that was out of the settings for a while keeps signs). To a
    -- group or account that is new at the platform (absence `new`), none was sent yet.
    local may_be_sent = before[place] and not (absence == 'new' and before[place] == TO_ADD)
    local is_absence_known = absence and not (absence == 'joined' and is_returned)
    local list = is_absence_known and not may_be_sent and unsent or maybe_sent
    list[#list + 1] = user
  end
  call_with('HSET', pending_members, signs)
  -- This change is newer than the comparison that found a member taken out at the platform.
  local taken_out = key('takenOutMembers', target .. ':' .. group)
  if redis.call('EXISTS', taken_out) == 1 then call_with('SREM', taken_out, users) end
  if #unsent > 0 then call_with('SADD', key('unsentMembers', target .. ':' .. group), unsent) end
  if #maybe_sent > 0 then call_with('SREM', key('unsentMembers', target .. ':' .. group), maybe_sent) end
  for place, user in ipairs(users) do
    local former = before[place]
    if former == TO_REMOVE then end_removal(target, group, user) end
    if former == TO_REMOVE or former == KEPT_REMOVAL then take_back(target, 'Group:' .. group, 'removeMembers', user) end
  end
end

-- Stores a sign for distinct users of a group at every target of the call (`p.targets`).
local function set_pending_all(group, users, sign, absence)
  for _, target in ipairs(p.targets) do
    local remaining = sign == TO_REMOVE and end_unsent(target, group, users) or users
    set_pending_at(target, group, remaining, sign, absence)
  end
end

-- Stores a sign for one user of a group at every target of the call.
local function set_pending(group, user, sign, absence) set_pending_all(group, { user }, sign, absence) end

-- Stores the removal of a user with this sign. If the user is a desired member of the group, nothing is removed: the platform has
-- the member already, so only `unsentMembers` changes, and a later removal at the source is written.
local function set_removal(group, user, sign)
  if redis.call('SISMEMBER', key('members', group), user) == 0 then return set_pending(group, user, sign) end
  for _, target in ipairs(p.targets) do redis.call('SREM', key('unsentMembers', target .. ':' .. group), user) end
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
