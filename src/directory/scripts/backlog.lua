-- How far a target is behind, what waits for a person, and how the last comparison ended. Reads only, and nothing that
-- takes longer the more there is.
-- KEYS base
-- ARGV { target, kinds (of the guard) }
-- RETURN {"backlog", now, dirty, inflight, blocked, oldest (time of acceptance, or ''), hold (1 or 0), last run (JSON or ''),
--        last success (or ''), staged of each kind, [action, writes, ...], waiting in each lane}
local oldest = redis.call('ZRANGE', key('accepted', p.target), 0, 0, 'WITHSCORES')
local run = redis.call('HMGET', key('reconcile', p.target), 'last', 'lastSuccessAt')
local staged = {}
for index, kind in ipairs(p.kinds) do
  staged[index] = redis.call('ZCARD', key('guardStaged', p.target .. ':' .. kind))
end
local lanes = {}
for lane = 0, 3 do
  lanes[lane + 1] = redis.call('ZCOUNT', key('dirty', p.target), lane * SPAN, '(' .. string.format('%d', (lane + 1) * SPAN))
end
return {
  'backlog', clock(),
  redis.call('HLEN', key('marks', p.target)),
  redis.call('ZCARD', key('inflight', p.target)),
  redis.call('ZCARD', key('blocked', p.target)),
  oldest[2] or '',
  redis.call('EXISTS', key('hold', p.target)),
  run[1] or '', run[2] or '',
  staged,
  redis.call('HGETALL', key('reconcileWrites', p.target)),
  lanes,
}
