-- Proves one portion of what a group has to write, or of what a user is owed: each is the other way round, and none says the
-- opposite of the membership. A sign that says nothing true is dropped, not turned into a removal: what the platform has too
-- much, a reconcile finds.
-- KEYS base
-- ARGV { target, targets: [target], family: memberMarks | owed, id (of the group, of the user), cursor, count, repair, request }
-- RETURN as prove_records.lua
-- NEEDS owed, proof
local reply = redis.call('HSCAN', key(p.family, p.target .. ':' .. p.id), p.cursor, 'COUNT', p.count)

local function prove(group, user)
  local of_group, of_user = key('memberMarks', p.target .. ':' .. group), key('owed', p.target .. ':' .. user)
  local one, other = redis.call('HGET', of_group, user), redis.call('HGET', of_user, group)
  local is_member = redis.call('SISMEMBER', key('members', group), user) == 1
  local sign = is_member and '+' or (one == '-' or other == '-') and '-' or nil
  if one == other and one == sign then return end
  local what = sign == nil and 'surplus' or one and other and 'wrong' or 'missing'
  fault(one == sign and 'owed' or 'memberMarks', what, 'User:' .. user .. ' in Group:' .. group, function()
    if not sign then
      redis.call('HDEL', of_group, user)
      redis.call('HDEL', of_user, group)
    else
      redis.call('HSET', of_group, user, sign)
      redis.call('HSET', of_user, group, sign)
    end
    mark_at(p.target, 'Group:' .. group, 3, clock())
    wake(p.target, 'User:' .. user, 3)
  end)
end

for index = 1, #reply[2], 2 do
  local other = reply[2][index]
  -- A member who is nobody of ours is known to the group alone.
  if p.family == 'owed' then prove(other, p.id) elseif string.sub(other, 1, 1) ~= '@' then prove(p.id, other) end
end
return proved(reply[1], #reply[2] / 2)
