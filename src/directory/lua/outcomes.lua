-- Builds the replies of writes of users.
-- NEEDS named_groups, together

-- Returns the reply of a write of a user.
local function outcome(tag, record, modified)
  local version = string.format('%d', record.version)
  local groups = named_groups_of(p.id, field('groupsOf', p.id))
  return tag .. ' ' .. version .. ' ' .. record.created .. ' ' .. modified .. ' ' .. groups
end
