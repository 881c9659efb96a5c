-- Reads users with their groups, as of one moment: by id, or by a value that an index knows.
-- KEYS base
-- ARGV { ids, groupsOnly } or { family, value, lookup: a family where more of them may be }
-- RETURN {"users", [id, record or '', group, displayName, group, displayName, ...], ...}
local ids = p.ids
if not ids then
  local id = redis.call('HGET', key(p.family), p.value)
  ids = id and { id } or {}
  local others = p.lookup and redis.call('HGET', key(p.lookup), p.value)
  for other in string.gmatch(others or '', '[^,]+') do ids[#ids + 1] = other end
end

local reply, names = { 'users' }, {}
for _, id in ipairs(ids) do
  local user = { id, not p.groupsOnly and redis.call('HGET', key('users'), id) or '' }
  for _, group in ipairs(groups_of(id)) do
    names[group] = names[group] or redis.call('HGET', key('groupNames'), group) or ''
    user[#user + 1] = group
    user[#user + 1] = names[group]
  end
  reply[#reply + 1] = user
end
return reply
