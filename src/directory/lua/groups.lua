-- Returns the ids of the groups of a user. `groupsOf` has them under the user's id, joined by commas.
-- NEEDS keys (key)
local function groups_of(user)
  local groups = {}
  for group in string.gmatch(redis.call('HGET', key('groupsOf'), user) or '', '[^,]+') do groups[#groups + 1] = group end
  return groups
end
