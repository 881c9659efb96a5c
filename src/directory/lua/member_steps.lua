-- Carries out the steps of a membership change of the group `p.id` (put_group.lua).
-- NEEDS keys (key, p), memberships (join_all, leave_all), references (add_unresolved, remove_unresolved), resolve (resolve_all)

-- Net change by user or value: 1 added, -1 removed, 0 unchanged. Steps of one push may cancel each other, so the version of
-- the group changes only if a net change is not 0.
local net = {}
-- Counts a change: `by` is 1 or -1.
local function count_change(by, member) net[member] = (net[member] or 0) + by end

-- Removes a member value that has no user.
local function drop_unresolved(value)
  if remove_unresolved(p.id, value) then count_change(-1, value) end
end

-- Removes the members that the values name. `users`: value -> its user; `found`: these users.
local function remove_named(values, users, found)
  local parted = {}
  for _, user in ipairs(leave_all(p.id, found)) do
    parted[user] = true
    count_change(-1, user)
  end
  -- A value whose user is no member may be stored as a reference, from a time before that user existed. It is removed too, as
  -- are values that still have no user.
  for _, value in ipairs(values) do
    if not parted[users[value]] then drop_unresolved(value) end
  end
end

-- Removes the members that the values do not name. `users`: value -> its user.
local function remove_others(values, users)
  local wanted, surplus = {}, {}
  for _, value in ipairs(values) do wanted[users[value] or value] = true end
  for _, user in ipairs(redis.call('SMEMBERS', key('members', p.id))) do
    if not wanted[user] then surplus[#surplus + 1] = user end
  end
  for _, user in ipairs(leave_all(p.id, surplus)) do count_change(-1, user) end
  for _, value in ipairs(redis.call('HKEYS', key('unresolved', p.id))) do
    if not wanted[value] then drop_unresolved(value) end
  end
end

-- Carries out one step. `kind`: add, remove or replace; `values`: member values from the provider. `add` and `replace` store a
-- value that identifies no stored user as a reference (references.lua); `remove` removes that reference. `p.folded`: value -> its
-- folded form (resolve.lua).
local function apply_step(kind, values)
  local users = resolve_all(values)
  local found = {}
  for _, value in ipairs(values) do found[#found + 1] = users[value] end
  if kind == 'remove' then return remove_named(values, users, found) end
  if kind == 'replace' then remove_others(values, users) end
  for _, user in ipairs(join_all(p.id, found)) do count_change(1, user) end
  for _, value in ipairs(values) do
    if not users[value] and add_unresolved(p.id, value, p.folded[value] or value) then count_change(1, value) end
  end
end
