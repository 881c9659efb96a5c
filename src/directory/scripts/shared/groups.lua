-- The groups that a user is in: the short form is a lookup, the former one a set for each user.
local function groups_of(user)
  local held = redis.call('HGET', key('groupsOf'), user)
  if not held then return redis.call('SMEMBERS', key('memberships', user)) end
  local groups = {}
  for group in string.gmatch(held, '[^,]+') do groups[#groups + 1] = group end
  return groups
end
