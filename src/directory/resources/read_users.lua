-- Reads users with their groups atomically: by id, or by a value of an index.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { ids, groupsOnly (reads no records), bytes (limit of records and groups together; at least one user is read) } or
--      { family and value (of an index, lua/entries.lua), lookup (family of other users that share the value; absent: none),
--        most (users that have the value), bytes (as above) }
-- RETURN 'many': more users have the value than `most`, or they have more bytes. Else three lines for each user: 'id groups',
--        with the groups as JSON [group, displayName, ...] or nothing; the head of the record; the text of the record. Head and
--        text are empty for an unknown id or with groupsOnly. With `ids` the id is left out, because a client chose it and it may
--        contain line breaks.
-- NEEDS keys (key, p), named_groups (named_groups_of)
local ids = p.ids
if not ids then
  local id = redis.call('HGET', key(p.family), p.value)
  ids = id and { id } or {}
  local others = p.lookup and redis.call('HGET', key(p.lookup), p.value)
  for other in string.gmatch(others or '', '[^,]+') do
    ids[#ids + 1] = other
    if #ids > p.most then return 'many' end
  end
end

-- Returns head and text of a record as two lines, as it is stored (lua/heads.lua); nil: there is none. A damaged record gives
-- exactly two lines too.
local function lines_of(stored)
  if not stored then return nil end
  local line_end = string.find(stored, '\n', 1, true)
  local has_two_lines = line_end and line_end > 1 and not string.find(stored, '\n', line_end + 1, true)
  return has_two_lines and stored or 'damaged\n'
end

local lines, size = {}, 0
for _, id in ipairs(ids) do
  local groups = named_groups_of(id)
  if p.bytes then
    size = size + #groups + redis.call('HSTRLEN', key('users'), id)
    local is_full = size > p.bytes and #lines > 0
    if is_full and not p.ids then return 'many' end
    if is_full then break end
  end
  lines[#lines + 1] = (p.ids and '' or id) .. ' ' .. groups
  lines[#lines + 1] = not p.groupsOnly and lines_of(redis.call('HGET', key('users'), id)) or '\n'
end
return table.concat(lines, '\n')
