-- The groups that a user is in: the short form is a lookup, the former one a set for each user.
local function groups_of(user)
  local held = redis.call('HGET', key('groupsOf'), user)
  if not held then return redis.call('SMEMBERS', key('memberships', user)) end
  local groups = {}
  for group in string.gmatch(held, '[^,]+') do groups[#groups + 1] = group end
  return groups
end

-- JSON [group, displayName, group, displayName, ...], or nothing. The calls of one command look a name up once: who asks
-- for names renames nothing.
local named = {}
local function named_groups_of(user)
  local found = {}
  for at, group in ipairs(groups_of(user)) do
    if not named[group] then
      local name = redis.call('HGET', key('groupNames'), group) or ''
      named[group] = cjson.encode(group) .. ',' .. cjson.encode(name)
    end
    found[at] = named[group]
  end
  return #found > 0 and '[' .. table.concat(found, ',') .. ']' or ''
end
