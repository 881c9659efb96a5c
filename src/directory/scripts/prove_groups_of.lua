-- Proves one portion of the groups of users. The member set of a group says who is in it. Only a group that has no set at all
-- takes it back from here: it was lost as a whole, or nobody would be left in the groups of its members.
-- KEYS base
-- ARGV { targets, cursor, count, repair, setless: { id: true } (groups without a member set when the look began) }
-- RETURN as prove_records.lua
-- NEEDS indexes, proof
local reply = redis.call('HSCAN', key('groupsOf'), p.cursor, 'COUNT', p.count)

-- A removal that is under way says that the membership is no more.
local function is_taken_out(user, group)
  for _, target in ipairs(p.targets) do
    if redis.call('HGET', key('owed', target .. ':' .. user), group) == '-' then return true end
  end
  return false
end

local function prove(user, held)
  local is_known, kept, seen = redis.call('HEXISTS', key('users'), user) == 1, {}, {}
  local has_surplus = false
  for group in string.gmatch(held, '[^,]+') do
    local both = 'User:' .. user .. ' in Group:' .. group
    local stands = not seen[group] and redis.call('SISMEMBER', key('members', group), user) == 1
    local may_come_back = is_known and p.setless[group] and redis.call('HEXISTS', key('groups'), group) == 1
    if not stands and not seen[group] and may_come_back and not is_taken_out(user, group) then
      fault('members', 'missing', both, function() redis.call('SADD', key('members', group), user) end)
      stands = true
    end
    if stands then kept[#kept + 1] = group else has_surplus = both end
    seen[group] = true
  end
  if not has_surplus and #kept > 0 then return end
  fault('groupsOf', 'surplus', has_surplus or 'User:' .. user, function()
    if #kept == 0 then return redis.call('HDEL', key('groupsOf'), user) end
    redis.call('HSET', key('groupsOf'), user, table.concat(kept, ','))
  end)
end

for index = 1, #reply[2], 2 do prove(reply[2][index], reply[2][index + 1]) end
return proved(reply[1], #reply[2] / 2)
