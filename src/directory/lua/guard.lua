-- Functions for the guard's counts and held changes.
-- Closes the open approval when no change is held.
local function guard_close(kinds)
  for _, kind in ipairs(kinds) do
    if redis.call('EXISTS', key('guardHeld', p.target .. ':' .. kind)) == 1 then return end
  end
  redis.call('DEL', key('guardApproval', p.target))
end

-- Deleted resources count for the guard's percentages for a month.
local GONE_MS = 31 * 24 * 3600 * 1000
local function note_gone(kind, id)
  local now = clock()
  redis.call('ZREMRANGEBYSCORE', key('gone', kind), '-inf', now - GONE_MS)
  redis.call('ZADD', key('gone', kind), now, id)
end
