-- Returns for each member of a group whether its removal is decided together with the deactivation of its account. A
-- deactivated account loses no access by the removal.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { target, users }
-- RETURN {"decisions", [stays | follows | waits]}: `stays`: no deactivation is pending, or it was rejected; `follows`: the
--        deactivation is held; `waits`: the deactivation is pending
-- NEEDS heads
local now = clock()
local serial, expires = unpack(redis.call('HMGET', key('guardApproval', p.target), 'serial', 'expires'))
local of_kind = p.target .. ':deactivate'

local function decision(user)
  local stored, ref = redis.call('HGET', key('users'), user), 'User:' .. user
  if stored and parse_head(stored).state ~= 'inactive' then return 'stays' end
  if serial and tonumber(expires) > now then
    local place = tonumber(redis.call('ZSCORE', key('guardHeld', of_kind), ref) or 0)
    -- Places after the serial are held under the open approval; earlier ones are of an expired approval and judged again.
    if place > tonumber(serial) then return 'follows' end
  end
  if redis.call('ZSCORE', key('guardRejected', of_kind), ref) then return 'stays' end
  return redis.call('HEXISTS', key('marks', p.target), ref) == 1 and 'waits' or 'stays'
end

local decisions = {}
for index, user in ipairs(p.users) do decisions[index] = decision(user) end
return { 'decisions', decisions }
