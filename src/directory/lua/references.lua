-- Keeps member values that arrived before their user, or that name a group. `unresolved:<group>` has each value with its folded
-- form (NFC, lower case). `references:<value>` has 'group value' for the value and for its folded form, so that a new user
-- finds the groups that wait for it by its names.
-- NEEDS keys (EDIT, key), entries (family_of, LOOKUPS), group_versions (raise_version), marks (mark), memberships (join_groups)
-- NEEDS spread (any_exists)

-- Stores a member value without a user, under the value itself and under its folded form. Returns whether it is new.
local function add_unresolved(group, value, folded)
  if redis.call('HSETNX', key('unresolved', group), value, folded) == 0 then return false end
  redis.call('SADD', key('references', value), group .. ' ' .. value)
  if folded ~= value then redis.call('SADD', key('references', folded), group .. ' ' .. value) end
  return true
end

-- Removes a member value that was stored without a user. Returns whether the group had it.
local function remove_unresolved(group, value)
  local folded = redis.call('HGET', key('unresolved', group), value)
  if not folded then return false end
  redis.call('HDEL', key('unresolved', group), value)
  redis.call('SREM', key('references', value), group .. ' ' .. value)
  if folded ~= value then redis.call('SREM', key('references', folded), group .. ' ' .. value) end
  return true
end

-- Returns the keys of references that wait for a user with these index entries. An email address or a shared externalId identifies
-- no user, here as in resolve.lua.
local function references_to(entries)
  local names = {}
  for _, entry in ipairs(entries) do
    if not LOOKUPS[family_of(entry)] then names[#names + 1] = key('references', entry[2]) end
  end
  return names
end

-- Makes a user a member of the groups that wait for it. `names`: keys of references to the user. Returns whether there were
-- any.
local function heal(user, names)
  if not any_exists(names, #names) then return false end
  local groups = {}
  for _, name in ipairs(names) do
    for _, reference in ipairs(redis.call('SMEMBERS', name)) do
      local group, value = string.match(reference, '^(%S+) (.*)$')
      if remove_unresolved(group, value) then groups[#groups + 1] = group end
    end
  end
  for _, group in ipairs(join_groups(user, groups)) do
    raise_version(group)
    mark('Group:' .. group, EDIT)
  end
  return true
end
