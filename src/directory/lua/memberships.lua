-- Adds and removes memberships in both directions. Each Redis command handles many members, because all members of a large
-- group may change at once.
-- NEEDS indexes, member_sum, pending_groups, records, spread

local function member_count(group)
  return redis.call('SCARD', key('members', group)) + redis.call('HLEN', key('unresolved', group))
end

-- Returns the distinct users that are (`is_member` 1) or are not (0) in the group.
local function members_among(group, users, is_member)
  if #users == 0 then return users end
  local found, seen = {}, {}
  for place, there in ipairs(call_with('SMISMEMBER', key('members', group), users)) do
    local user = users[place]
    if there == is_member and not seen[user] then
      found[#found + 1] = user
      seen[user] = true
    end
  end
  return found
end

-- Replaces the groups of each user by what `change` returns for them; both are ids joined by commas, '' for no group.
local function change_groups_of(users, change)
  local changed, gone = {}, {}
  for place, before in ipairs(call_with('HMGET', key('groupsOf'), users)) do
    local groups = change(before or '')
    if groups == '' then gone[#gone + 1] = users[place]
    else
      changed[#changed + 1] = users[place]
      changed[#changed + 1] = groups
    end
  end
  if #changed > 0 then call_with('HSET', key('groupsOf'), changed) end
  if #gone > 0 then call_with('HDEL', key('groupsOf'), gone) end
end

-- Makes the changed memberships pending at all targets. Marks the users too if mapping rules read their groups
-- (`p.rulesReadGroups`), because their mapped values may change.
local function make_memberships_pending(group, users, sign)
  count_members(group, sign == '+' and #users or -#users)
  set_pending_all(group, users, sign)
  if not p.rulesReadGroups then return end
  for _, user in ipairs(users) do mark('User:' .. user, 1) end
end

-- `join_all` and `leave_all` change memberships in both directions and return the users whose memberships changed.
local function join_all(group, users)
  local joining = members_among(group, users, 0)
  if #joining == 0 then return joining end
  call_with('SADD', key('members', group), joining)
  change_groups_of(joining, function(groups) return groups == '' and group or groups .. ',' .. group end)
  make_memberships_pending(group, joining, '+')
  return joining
end

local function leave_all(group, users)
  local parting = members_among(group, users, 1)
  if #parting == 0 then return parting end
  call_with('SREM', key('members', group), parting)
  change_groups_of(parting, function(groups) return without(groups, group) end)
  make_memberships_pending(group, parting, '-')
  return parting
end

-- `join_groups` and `leave_groups` change the memberships of one user and return the groups that the user joined or left. The
-- user's list of groups is written once, because writing the whole list for each group would take much longer.
local function join_groups(user, groups)
  local joined = {}
  for _, group in ipairs(groups) do
    if redis.call('SADD', key('members', group), user) == 1 then
      joined[#joined + 1] = group
      make_memberships_pending(group, { user }, '+')
    end
  end
  if #joined == 0 then return joined end
  local added = table.concat(joined, ',')
  change_groups_of({ user }, function(groups) return groups == '' and added or groups .. ',' .. added end)
  return joined
end

local function leave_groups(user, groups)
  local left = {}
  for _, group in ipairs(groups) do
    if redis.call('SREM', key('members', group), user) == 1 then
      left[#left + 1] = group
      make_memberships_pending(group, { user }, '-')
    end
  end
  redis.call('HDEL', key('groupsOf'), user)
  return left
end

-- Increases the version of a group whose members changed, and emits the event; the stored text stays the same.
local function raise_version(family, id)
  local stored = redis.call('HGET', key(family), id)
  if stored then
    local record = parse(stored)
    record.version = record.version + 1
    store(family, id, record)
    if p.events then
      -- NEEDS events
      emit_event('Group', id, record, { text = record.text, method = 'patch', members = true })
    end
  end
end
