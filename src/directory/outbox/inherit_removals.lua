-- Copies one portion of the pending removals of a group that was deleted at the source to the group that takes its platform
-- group over, with what a person rejected and what the guard holds. Members of the new group are left out. The copies of the
-- former group end with its link, so a killed sync loses nothing. A pending removal has the sign '-', or 'r' when it was
-- rejected or is of a protected user (lua/pending_groups.lua).
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { target, targets: [target], former (id), heir (id), cursor, count }
-- RETURN {"inherited", next cursor ('0': the last portion)}
-- NEEDS numbers, pending_groups
local serial, expires = unpack(redis.call('HMGET', key('guardApproval', p.target), 'serial', 'expires'))
local is_open = serial and tonumber(expires) > clock()
local heir = 'Group:' .. p.heir

-- Copies a decision or a hold with a score; `score` nil: there is none.
local function copy(family, user, score)
  if not score then return end
  redis.call('ZADD', key(family, p.target .. ':removeMembers'), score, heir .. ' ' .. user)
  redis.call('SADD', key('guardItems', p.target .. ':' .. heir), 'removeMembers ' .. user)
end

local function score_of(family, ref, user)
  return redis.call('ZSCORE', key(family, p.target .. ':removeMembers'), ref .. ' ' .. user)
end

local reply = redis.call('HSCAN', key('pendingMembers', p.target .. ':' .. p.former), p.cursor, 'COUNT', p.count)
for index = 1, #reply[2], 2 do
  local user, sign = reply[2][index], reply[2][index + 1]
  if sign ~= '+' and redis.call('SISMEMBER', key('members', p.heir), user) == 0 then
    local former = 'Group:' .. p.former
    local rejection = score_of('guardRejected', former, user)
    copy('guardRejected', user, rejection)
    -- Places after the serial are held under the open approval; earlier ones are of an expired approval and judged again.
    local place = is_open and tonumber(score_of('guardHeld', former, user) or 0) or 0
    if place > tonumber(serial or 0) and not score_of('guardHeld', heir, user) then
      -- The copy gets a place of its own, because places are unique.
      copy('guardHeld', user, next_number())
      -- When the approval expires, the heir is synced and its changes are judged again.
      redis.call('ZADD', key('alarms', p.target), expires, heir)
    end
    set_pending(p.heir, user, rejection and 'r' or '-')
  end
end
return { 'inherited', reply[1] }
