-- NEEDS named_groups, together

-- What a write of a user answers.
local function outcome(tag, record, modified)
  local version = string.format('%d', record.version)
  local groups = named_groups_of(p.id, field('groupsOf', p.id))
  return tag .. ' ' .. version .. ' ' .. record.created .. ' ' .. modified .. ' ' .. groups
end
