-- What the guard counts and stages.
-- A staged plan is over when nothing is left in it.
local function guard_close(kinds)
  for _, kind in ipairs(kinds) do
    if redis.call('EXISTS', key('guardStaged', p.target .. ':' .. kind)) == 1 then return end
  end
  redis.call('DEL', key('guardPlan', p.target))
end

-- Who left a while ago still belongs to what a share of the guard refers to.
local GONE_MS = 31 * 24 * 3600 * 1000
local function note_gone(kind, id)
  local now = clock()
  redis.call('ZREMRANGEBYSCORE', key('gone', kind), '-inf', now - GONE_MS)
  redis.call('ZADD', key('gone', kind), now, id)
end

-- Ends the open staged plan of a target, so that guard_take.lua judges again what it holds, and wakes the resources whose
-- items of one kind it holds.
local function judge_anew(target, kind)
  local plan, now = key('guardPlan', target), string.format('%d', clock())
  if redis.call('EXISTS', plan) == 0 then return end
  redis.call('HSET', plan, 'expires', now)
  for _, text in ipairs(redis.call('ZRANGE', key('guardStaged', target .. ':' .. kind), 0, -1)) do
    redis.call('ZADD', key('alarms', target), now, string.match(text, '^%S+'))
  end
end
