-- Caches [group, displayName] as JSON for the calls of one command; no script that uses it renames groups.
local named = setmetatable({}, {
  __index = function(self, group)
    local name = redis.call('HGET', key('groupNames'), group) or ''
    self[group] = cjson.encode(group) .. ',' .. cjson.encode(name)
    return self[group]
  end,
})

-- Returns the user's groups as JSON [group, displayName, ...], or ''. `held`: the user's entry of groupsOf, if already read.
local function named_groups_of(user, held)
  if held == nil then held = redis.call('HGET', key('groupsOf'), user) end
  return not held and '' or '[' .. string.gsub(held, '[^,]+', named) .. ']'
end
