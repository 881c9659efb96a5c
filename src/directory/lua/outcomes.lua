-- Builds the replies of user writes.
-- NEEDS keys (p), named_groups (named_groups_of), together (field)

-- Returns 'tag version created modified groups', with the groups of the user as JSON (named_groups.lua). `tag`: stored or
-- unchanged; `record`: the parsed head of the record (heads.lua); `modified`: time of the last change.
local function outcome(tag, record, modified)
  local version = string.format('%d', record.version)
  local groups = named_groups_of(p.id, field('groupsOf', p.id))
  return tag .. ' ' .. version .. ' ' .. record.created .. ' ' .. modified .. ' ' .. groups
end
