-- Returns whether the removal of each member waits for the decision about the member's account. A deactivated account loses
-- nothing by the removal.
-- KEYS base
-- ARGV { target, users }
-- RETURN {"decisions", [stays: no deactivation pending | follows: deactivation held | waits: deactivation pending]}
local now = clock()
local serial, expires = unpack(redis.call('HMGET', key('guardApproval', p.target), 'serial', 'expires'))
local of_kind = p.target .. ':deactivate'

local function decision(user)
  local stored, ref = redis.call('HGET', key('users'), user), 'User:' .. user
  if stored and string.match(stored, '^%S+ %S+ %S+ (%S+)') ~= 'inactive' then return 'stays' end
  if serial and tonumber(expires) > now then
    if tonumber(redis.call('ZSCORE', key('guardHeld', of_kind), ref) or 0) > tonumber(serial) then return 'follows' end
  end
  if redis.call('ZSCORE', key('guardRejected', of_kind), ref) then return 'stays' end
  return redis.call('HEXISTS', key('marks', p.target), ref) == 1 and 'waits' or 'stays'
end

local decisions = {}
for index, user in ipairs(p.users) do decisions[index] = decision(user) end
return { 'decisions', decisions }
