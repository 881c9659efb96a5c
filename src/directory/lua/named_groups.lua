-- [group, displayName] as JSON. The calls of one command look a name up once: who asks for names renames nothing.
local named = setmetatable({}, {
  __index = function(self, group)
    local name = redis.call('HGET', key('groupNames'), group) or ''
    self[group] = cjson.encode(group) .. ',' .. cjson.encode(name)
    return self[group]
  end,
})

-- JSON [group, displayName, group, displayName, ...], or nothing. `held`: the lookup where it is read already.
local function named_groups_of(user, held)
  if held == nil then held = redis.call('HGET', key('groupsOf'), user) end
  return not held and '' or '[' .. string.gsub(held, '[^,]+', named) .. ']'
end
