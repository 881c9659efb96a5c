-- What the guard counts and holds.
-- An approval is over when nothing is held under it any more.
local function guard_close(kinds)
  for _, kind in ipairs(kinds) do
    if redis.call('EXISTS', key('guardHeld', p.target .. ':' .. kind)) == 1 then return end
  end
  redis.call('DEL', key('guardApproval', p.target))
end

-- Who left a while ago still belongs to what a share of the guard refers to.
local GONE_MS = 31 * 24 * 3600 * 1000
local function note_gone(kind, id)
  local now = clock()
  redis.call('ZREMRANGEBYSCORE', key('gone', kind), '-inf', now - GONE_MS)
  redis.call('ZADD', key('gone', kind), now, id)
end
