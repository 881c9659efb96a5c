-- Returns the guard's counts of a target, and the totals that its percentages refer to.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { target, windowMs, kinds }
-- RETURN {"counts", users, groups, memberships, [used, waiting, held, approved, rejected] of each kind}
--        users and groups include those that were deleted within the window; waiting: pending deactivations, 0 for other
--        kinds
local now = clock()
local function there(family, kind)
  return redis.call('HLEN', key(family)) + redis.call('ZCOUNT', key('gone', kind), now - p.windowMs, '+inf')
end
local reply = { 'counts', there('users', 'User'), there('groups', 'Group'),
  tonumber(redis.call('GET', key('memberCount')) or '0') }
for _, kind in ipairs(p.kinds) do
  local of_kind = p.target .. ':' .. kind
  reply[#reply + 1] = {
    redis.call('ZCOUNT', key('guardUsed', of_kind), now - p.windowMs, '+inf'),
    kind == 'deactivate' and redis.call('SCARD', key('guardWaiting', p.target)) or 0,
    redis.call('ZCARD', key('guardHeld', of_kind)),
    redis.call('ZCOUNT', key('guardApproved', of_kind), now, '+inf'),
    redis.call('ZCARD', key('guardRejected', of_kind)),
  }
end
return reply
