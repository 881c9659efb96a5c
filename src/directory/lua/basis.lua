-- Returns the basis of a sync as text: the version of the record. If mapping rules read the groups of users, and the user has
-- groups, a dot and 8 hex digits of a hash of their ids and names follow. A link stores the basis of its last sync; if the basis
-- is another one now and there is no mark, a mark was lost.
-- `stored`: the record, whose first word is the version; false: deleted, which counts as version 0. `rules_read_groups`:
-- whether mapping rules read the groups of users, so that a new group or a new name of a group changes what is desired.
-- NEEDS keys (key), groups (groups_of)
local function basis_of(kind, id, stored, rules_read_groups)
  local version = stored and string.match(stored, '^%d+') or '0'
  if kind ~= 'User' or not rules_read_groups then return version end
  local named = groups_of(id)
  local has_groups = #named > 0
  if not has_groups then return version end
  table.sort(named)
  for index, group in ipairs(named) do
    named[index] = group .. ' ' .. (redis.call('HGET', key('groupNames'), group) or '')
  end
  return version .. '.' .. string.sub(redis.sha1hex(table.concat(named, '\n')), 1, 8)
end
