-- Proves one portion of the members of a group, of its member values without a user (`unresolved`), or of the groups that
-- wait for such a value (`references`). After its last portion a member set is added to the sum (lua/member_sum.lua).
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { family: members | unresolved | references, id (of the group; for references the value), cursor, count,
--        repair (whether faults are repaired) }
-- RETURN {"proved", next cursor, entries checked, [faults: prove_records.lua]}. lua/proof.lua: `fault` notes one, `proved` replies
-- NEEDS keys (key, p), indexes (add_lookup, drop_lookup), member_sum (keep_member_sum)
-- NEEDS proof (fault, is_deleted, is_stored, lists, proved)
local name = key(p.family, p.id)
local command = p.family == 'unresolved' and 'HSCAN' or 'SSCAN'
local next_cursor, entries = unpack(redis.call(command, name, p.cursor, 'COUNT', p.count))
local ref = 'Group:' .. p.id
local is_group_stored = p.family ~= 'references' and is_stored(ref)

-- Proves a member: group and user are stored, and `groupsOf` of the user has the group.
local function prove_member(user)
  local membership = 'User:' .. user .. ' in ' .. ref
  local is_user_stored = redis.call('HEXISTS', key('users'), user) == 1
  local was_deleted = (not is_group_stored and is_deleted(p.id)) or (not is_user_stored and is_deleted(user))
  if was_deleted then
    return fault('members', 'surplus', membership, function()
      redis.call('SREM', name, user)
      keep_member_sum(p.id, -1) -- not count_members: prove_count.lua compares `memberCount` with this sum, and corrects it
      drop_lookup('groupsOf', user, p.id)
    end)
  end
  -- A record that is neither stored nor deleted was lost. Its memberships stay until it is pushed again.
  if not is_group_stored or not is_user_stored then return fault('members', 'lost', membership) end
  if lists(redis.call('HGET', key('groupsOf'), user), p.id) then return end
  fault('groupsOf', 'missing', membership, function() add_lookup('groupsOf', user, p.id) end)
end

-- Proves a member value without a user: `references` of the value and of its folded form have it.
local function prove_unresolved(value, folded)
  if not is_group_stored then
    -- If the record of the group was lost, its members (prove_member) or its link (prove_links.lua) report that.
    if is_deleted(p.id) then
      fault('unresolved', 'surplus', ref, function() redis.call('HDEL', name, value) end, ref .. ' ' .. value)
    end
    return
  end
  for _, awaited in ipairs({ value, folded }) do
    local reference = p.id .. ' ' .. value
    if redis.call('SISMEMBER', key('references', awaited), reference) == 0 then
      local function repair() redis.call('SADD', key('references', awaited), reference) end
      fault('references', 'missing', ref, repair, awaited .. ' ' .. reference)
    end
  end
end

-- Proves an entry 'group value' of `references`: the group has the value in `unresolved`.
local function prove_reference(reference)
  local group, value = string.match(reference, '^(%S+) (.*)$')
  local folded = group and redis.call('HGET', key('unresolved', group), value)
  local is_right = folded and (value == p.id or folded == p.id)
  if is_right then return end
  local function repair() redis.call('SREM', name, reference) end
  fault('references', 'surplus', 'Group:' .. (group or ''), repair, p.id .. ' ' .. reference)
end

-- HSCAN returns each field with its value; SSCAN returns members.
local step = command == 'HSCAN' and 2 or 1
for index = 1, #entries, step do
  local member = entries[index]
  if p.family == 'members' then prove_member(member)
  elseif p.family == 'unresolved' then prove_unresolved(member, entries[index + 1])
  else prove_reference(member) end
end
local is_last_portion = next_cursor == '0'
-- 0 more members: the set is only added to the sum.
if p.family == 'members' and is_last_portion then keep_member_sum(p.id, 0) end
return proved(next_cursor, #entries / step)
