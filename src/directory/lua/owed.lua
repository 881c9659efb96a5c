-- Memberships that a target is still to be told of.
-- NEEDS marks, spread

-- A removal is done or taken back: who waited for it looks again, the user and the groups that are to take the user in.
local function end_removal(target, group, user)
  wake(target, 'User:' .. user, 1)
  local now = clock()
  for _, other in ipairs(redis.call('HKEYS', key('owed', target .. ':' .. user))) do
    if other ~= group then mark_at(target, 'Group:' .. other, 1, now) end
  end
end

-- Notes at every target that memberships of these users, each once, must be added ('+') or removed ('-').
local function owe_all(group, users, sign)
  if #users == 0 then return end
  for _, target in ipairs(p.targets) do
    local marks = key('memberMarks', target .. ':' .. group)
    -- `owed` has the same signs, by user.
    local before = sign == '+' and call_with('HMGET', marks, users) or {}
    local signs = {}
    for place, user in ipairs(users) do
      redis.call('HSET', key('owed', target .. ':' .. user), group, sign)
      signs[2 * place - 1], signs[2 * place] = user, sign
    end
    call_with('HSET', marks, signs)
    for place, user in ipairs(users) do
      if before[place] == '-' then end_removal(target, group, user) end
    end
  end
end

local function owe(group, user, sign) owe_all(group, { user }, sign) end
