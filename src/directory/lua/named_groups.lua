-- Caches [group, displayName] as JSON for the calls of one command; no script that uses it renames groups.
local named = setmetatable({}, {
  __index = function(self, group)
    local name = redis.call('HGET', key('groupNames'), group) or ''
    self[group] = cjson.encode(group) .. ',' .. cjson.encode(name)
    return self[group]
  end,
})

-- Returns the user's groups as JSON [group, displayName, ...], or ''. `joined_ids`: the entry of groupsOf, if already read.
local function named_groups_of(user, joined_ids)
  if joined_ids == nil then joined_ids = redis.call('HGET', key('groupsOf'), user) end
  return not joined_ids and '' or '[' .. string.gsub(joined_ids, '[^,]+', named) .. ']'
end
