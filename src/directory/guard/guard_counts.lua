-- Returns the guard's counts of a target, and the totals that its percentages refer to.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, windowMs (duration of the guard's window), kinds }
-- RETURN {"counts", users, groups, memberships, [used, waiting, held, approved, rejected] of each kind}
--        users, groups: with those that were deleted within the window
--        used: allowed within the window without an approval, whether or not the write succeeded
--        waiting: accepted deactivations that no sync has asked the guard for yet, without those in `used`; 0 for other kinds
--        held: waiting for a decision; approved: not written yet; rejected: by a rejection that is in force
-- NEEDS keys (clock, key, p)
local now = clock()
-- Returns the number of stored resources and of those that were deleted within the window (`gone`: ids by time).
local function population(family, kind)
  return redis.call('HLEN', key(family)) + redis.call('ZCOUNT', key('gone', kind), now - p.windowMs, '+inf')
end
-- Returns the number of accepted deactivations that `used` does not count; as `fits` of guard_take.lua.
local function waiting_beside(used)
  local waiting = key('guardWaiting', p.target)
  if redis.call('SCARD', waiting) == 0 then return 0 end
  -- Members of the set `waiting` have the score 1 here, so the larger score is the time in `used`. This script writes nothing:
  -- counts are read also while Redis refuses writes.
  local both, counted = redis.call('ZINTER', 2, used, waiting, 'AGGREGATE', 'MAX', 'WITHSCORES'), 0
  for place = 2, #both, 2 do
    if tonumber(both[place]) > now - p.windowMs then counted = counted + 1 end
  end
  return redis.call('SCARD', waiting) - counted
end
local reply = { 'counts', population('users', 'User'), population('groups', 'Group'),
  tonumber(redis.call('GET', key('memberCount')) or '0') }
for _, kind in ipairs(p.kinds) do
  local of_kind = p.target .. ':' .. kind
  reply[#reply + 1] = {
    redis.call('ZCOUNT', key('guardUsed', of_kind), now - p.windowMs, '+inf'),
    kind == 'deactivate' and waiting_beside(key('guardUsed', of_kind)) or 0,
    redis.call('ZCARD', key('guardHeld', of_kind)),
    redis.call('ZCOUNT', key('guardApproved', of_kind), now, '+inf'), -- the score is the end of the approval
    redis.call('ZCARD', key('guardRejected', of_kind)),
  }
end
return reply
