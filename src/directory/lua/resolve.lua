-- Resolves member values to users.
-- NEEDS keys (key, p), spread (call_with)

-- Returns by member value the id of the user that it identifies. A value is a user's id; some providers send externalId or
-- userName instead. An id goes before an externalId, an externalId before a userName. `p.folded`: value -> its folded form (NFC,
-- lower case), in which userNames are stored; values that look like the id of a resource are left out and looked up as they are. An
-- externalId that several users share identifies none.
local function resolve_all(values)
  local users, names, folded = {}, {}, {}
  for _, value in ipairs(values) do
    local is_id = redis.call('HEXISTS', key('users'), value) == 1
    if is_id then users[value] = value
    else
      names[#names + 1] = value
      folded[#folded + 1] = p.folded[value] or value
    end
  end
  if #names == 0 then return users end
  local named = call_with('HMGET', key('userNames'), folded)
  local shared = call_with('HMGET', key('sharedExternalIds:User'), names)
  local external = call_with('HMGET', key('externalIds:User'), names)
  for place, value in ipairs(names) do
    users[value] = not shared[place] and external[place] or named[place] or nil
  end
  return users
end
