-- Resumes removals of a user from groups when the account of the user is found.
-- NEEDS keys (EDIT, key, p), marks (mark), pending_groups (set_removal), signs (TO_REMOVE, UNCONFIRMED_REMOVAL)
-- NEEDS sought_account (is_account_sought)

-- Makes the unconfirmed removals of the user pending again if the account was still to be found: after a restore, or a create
-- without answer. Call it before the new link is stored. The user is that of the call (`p.ref`, `p.id`).
local function resume_unconfirmed()
  local signs = redis.call('HGETALL', key('pendingGroups', p.target .. ':' .. p.id))
  local groups = {}
  for index = 1, #signs, 2 do
    if signs[index + 1] == UNCONFIRMED_REMOVAL then groups[#groups + 1] = signs[index] end
  end
  if #groups == 0 or not is_account_sought(p.target, p.ref) then return end
  for _, group in ipairs(groups) do
    set_removal(group, p.id, TO_REMOVE)
    mark('Group:' .. group, EDIT)
  end
end
