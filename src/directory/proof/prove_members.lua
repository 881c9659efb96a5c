-- Proves one portion of the members of a group, of its member values without a user (`unresolved`), or of the groups that
-- wait for such a value (`references`). After its last portion a member set is added to the sum (lua/member_sum.lua).
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { family: members | unresolved | references, id (of the group; or the value), cursor, count, repair }
-- RETURN as prove_records.lua
-- NEEDS indexes, member_sum, proof
local name = key(p.family, p.id)
local reply = redis.call(p.family == 'unresolved' and 'HSCAN' or 'SSCAN', name, p.cursor, 'COUNT', p.count)
local ref = 'Group:' .. p.id
local is_known = p.family ~= 'references' and is_stored(ref)

local function prove_member(user)
  local membership = 'User:' .. user .. ' in ' .. ref
  local is_gone = (not is_known and is_deleted(p.id)) or (redis.call('HEXISTS', key('users'), user) == 0 and is_deleted(user))
  if is_gone then
    return fault('members', 'surplus', membership, function()
      redis.call('SREM', name, user)
      keep_member_sum(p.id, -1)
      drop_lookup('groupsOf', user, p.id)
    end)
  end
  -- A record that is neither stored nor deleted was lost. Its memberships stay until it is pushed again.
  if not is_known or redis.call('HEXISTS', key('users'), user) == 0 then return fault('members', 'lost', membership) end
  if lists(redis.call('HGET', key('groupsOf'), user), p.id) then return end
  fault('groupsOf', 'missing', membership, function() add_lookup('groupsOf', user, p.id) end)
end

local function prove_unresolved(value, folded)
  if not is_known then
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

local function prove_reference(reference)
  local group, value = string.match(reference, '^(%S+) (.*)$')
  local folded = group and redis.call('HGET', key('unresolved', group), value)
  if folded and (value == p.id or folded == p.id) then return end
  local function repair() redis.call('SREM', name, reference) end
  fault('references', 'surplus', 'Group:' .. (group or ''), repair, p.id .. ' ' .. reference)
end

local step = p.family == 'unresolved' and 2 or 1
for index = 1, #reply[2], step do
  local member = reply[2][index]
  if p.family == 'members' then prove_member(member)
  elseif p.family == 'unresolved' then prove_unresolved(member, reply[2][index + 1])
  else prove_reference(member) end
end
if p.family == 'members' and reply[1] == '0' then keep_member_sum(p.id, 0) end
return proved(reply[1], #reply[2] / step)
