-- Functions for the guard's counts and decisions.

-- A deleted resource is part of the population of the guard's percentages for the time of the guard's window (guard_counts.lua),
-- so that a mass deletion does not shrink the number of which it is a percentage. Its entry is kept for a month.
local GONE_MS = 31 * 24 * 3600 * 1000
local function note_deleted(kind, id)
  local now = clock()
  redis.call('ZREMRANGEBYSCORE', key('gone', kind), '-inf', now - GONE_MS)
  redis.call('ZADD', key('gone', kind), now, id)
end

-- Returns why a decision about the changes of an approval is refused: 'unknown' or 'expired'; nil when it is accepted.
-- `source`: family of the changes; only those in `guardHeld` have an approval that can expire. `serial`: serial of the
-- approval.
local function guard_refusal(source, serial)
  if source ~= 'guardHeld' then return nil end
  local current, expires = unpack(redis.call('HMGET', key('guardApproval', p.target), 'serial', 'expires'))
  if tonumber(current) ~= serial then return 'unknown' end
  return tonumber(expires) <= clock() and 'expired' or nil
end
