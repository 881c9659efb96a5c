-- Returns groups with their names, which a SCIM user contains (RFC 7643 §4.1.2).
-- NEEDS keys (key)

-- By group id: the JSON texts of id and displayName, joined by a comma. Kept for all calls of one command, because no script
-- that uses it renames groups.
local named = setmetatable({}, {
  __index = function(self, group)
    local name = redis.call('HGET', key('groupNames'), group) or ''
    self[group] = cjson.encode(group) .. ',' .. cjson.encode(name)
    return self[group]
  end,
})

-- Returns the user's groups as JSON [group, displayName, group, displayName, ...]; '' for none. `joined_ids`: the ids of the
-- groups joined by commas, as `groupsOf` has them (false: none); nil: they are read here.
local function named_groups_of(user, joined_ids)
  if joined_ids == nil then joined_ids = redis.call('HGET', key('groupsOf'), user) end
  return not joined_ids and '' or '[' .. string.gsub(joined_ids, '[^,]+', named) .. ']'
end
