-- Memberships that a target is still to be told of.
-- NEEDS marks

-- A removal is done or taken back: who waited for it looks again, the user and the groups that are to take the user in.
local function end_removal(target, group, user)
  wake(target, 'User:' .. user, 1)
  local now = clock()
  for _, other in ipairs(redis.call('HKEYS', key('owed', target .. ':' .. user))) do
    if other ~= group then mark_at(target, 'Group:' .. other, 1, now) end
  end
end

-- Notes at every target that a membership must be added ('+') or removed ('-').
local function owe(group, user, sign)
  for _, target in ipairs(p.targets) do
    local owed = key('owed', target .. ':' .. user)
    local is_taken_back = sign == '+' and redis.call('HGET', owed, group) == '-'
    redis.call('HSET', key('memberMarks', target .. ':' .. group), user, sign)
    redis.call('HSET', owed, group, sign)
    if is_taken_back then end_removal(target, group, user) end
  end
end
