-- Adds and removes memberships in both directions: users by group (`members`), and groups by user (`groupsOf`). Each Redis
-- command handles many members, because all members of a large group may change at once.
-- NEEDS keys (EDIT, key, p), indexes (without), marks (mark), member_sum (count_members), pending_groups (set_pending_all)
-- NEEDS signs (TO_ADD, TO_REMOVE), spread (call_with)

-- Returns the number of members of a group, with the member values whose user is not stored (`unresolved`).
local function member_count(group)
  return redis.call('SCARD', key('members', group)) + redis.call('HLEN', key('unresolved', group))
end

-- Returns the distinct ones of `users` for whom SMISMEMBER replies `wanted`: 1, they are in the group; 0, they are not.
local function members_among(group, users, wanted)
  if #users == 0 then return users end
  local found, seen = {}, {}
  for place, is_member in ipairs(call_with('SMISMEMBER', key('members', group), users)) do
    local user = users[place]
    if is_member == wanted and not seen[user] then
      found[#found + 1] = user
      seen[user] = true
    end
  end
  return found
end

-- Replaces the groups of each user by the value of `change` for the former groups; both are ids joined by commas, '' for none.
local function change_groups_of(users, change)
  local changed, without_groups = {}, {}
  for place, before in ipairs(call_with('HMGET', key('groupsOf'), users)) do
    local groups = change(before or '')
    if groups == '' then without_groups[#without_groups + 1] = users[place]
    else
      changed[#changed + 1] = users[place]
      changed[#changed + 1] = groups
    end
  end
  if #changed > 0 then call_with('HSET', key('groupsOf'), changed) end
  if #without_groups > 0 then call_with('HDEL', key('groupsOf'), without_groups) end
end

-- Makes the changed memberships pending at all targets. Marks the users too if mapping rules read their groups
-- (`p.rulesReadGroups`), because their mapped values may change.
local function make_memberships_pending(group, users, sign)
  count_members(group, sign == TO_ADD and #users or -#users)
  -- `joined` tells set_pending_all why the platform does not have these members yet: they were no members at the source until now.
  set_pending_all(group, users, sign, sign == TO_ADD and 'joined')
  if not p.rulesReadGroups then return end
  for _, user in ipairs(users) do mark('User:' .. user, EDIT) end
end

-- Adds users to a group. Returns those who were no members before.
local function join_all(group, users)
  local joining = members_among(group, users, 0)
  if #joining == 0 then return joining end
  call_with('SADD', key('members', group), joining)
  change_groups_of(joining, function(groups) return groups == '' and group or groups .. ',' .. group end)
  make_memberships_pending(group, joining, TO_ADD)
  return joining
end

-- Removes users from a group. Returns those who were members before.
local function leave_all(group, users)
  local parting = members_among(group, users, 1)
  if #parting == 0 then return parting end
  call_with('SREM', key('members', group), parting)
  change_groups_of(parting, function(groups) return without(groups, group) end)
  make_memberships_pending(group, parting, TO_REMOVE)
  return parting
end

-- Adds one user to groups. Returns the groups in which the user was no member before. The user's list of groups is written
-- once, because writing the whole list for each group would take much longer.
local function join_groups(user, groups)
  local joined = {}
  for _, group in ipairs(groups) do
    if redis.call('SADD', key('members', group), user) == 1 then
      joined[#joined + 1] = group
      make_memberships_pending(group, { user }, TO_ADD)
    end
  end
  if #joined == 0 then return joined end
  local added = table.concat(joined, ',')
  change_groups_of({ user }, function(groups) return groups == '' and added or groups .. ',' .. added end)
  return joined
end

-- Removes one user, who is deleted, from all its groups. Returns the groups in which the user was a member.
local function leave_groups(user, groups)
  local left = {}
  for _, group in ipairs(groups) do
    if redis.call('SREM', key('members', group), user) == 1 then
      left[#left + 1] = group
      make_memberships_pending(group, { user }, TO_REMOVE)
    end
  end
  redis.call('HDEL', key('groupsOf'), user)
  return left
end
