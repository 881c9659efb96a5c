-- Returns the backlog of a target: pending marks, blocked and held resources, and the last run. Reads only, in constant time.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { target, kinds (of the guard), exceptions (reasons) }
-- RETURN {"backlog", now, dirty, inflight, blocked, oldest (time of acceptance, or ''), hold (JSON or ''), last run (JSON or ''),
--        last success (or ''), held of each kind, [action, writes, ...], number of waiting marks of each priority,
--        [exceptions, time of the oldest or ''] of each reason, marks that are due now, load (read_load),
--        number of consecutive runs that failed or did not compare everything, time since which a schedule
--        starts runs (or ''), longest time between two of them (or '')}
-- NEEDS load
-- Acceptance of the oldest change: the delivered marks are in `accepted`, the others in `dirty`.
local oldest = tonumber(redis.call('ZRANGE', key('accepted', p.target), 0, 0, 'WITHSCORES')[2])
local function note_age(time)
  if not oldest or time < oldest then oldest = time end
end
local run = redis.call('HMGET', key('reconcile', p.target), 'last', 'lastSuccessAt', 'failures', 'expectedSince', 'expectedGapMs')
local held = {}
for index, kind in ipairs(p.kinds) do
  held[index] = redis.call('ZCARD', key('guardHeld', p.target .. ':' .. kind))
end
local priorities, due, now = {}, 0, clock()
for priority = DEACTIVATION, RECONCILE do
  local from, to = string.format('%d', priority * SPAN), '(' .. string.format('%d', (priority + 1) * SPAN)
  priorities[priority + 1] = redis.call('ZCOUNT', key('dirty', p.target), from, to)
  due = due + redis.call('ZCOUNT', key('dirty', p.target), from, string.format('%d', priority * SPAN + now))
  local first = redis.call('ZRANGEBYSCORE', key('dirty', p.target), from, to, 'WITHSCORES', 'LIMIT', 0, 1)[2]
  if first then note_age(tonumber(first) % SPAN) end
end
local exceptions = {}
for index, reason in ipairs(p.exceptions) do
  local list = key('exceptions', p.target .. ':' .. reason)
  exceptions[index] = { redis.call('ZCARD', list), redis.call('ZRANGE', list, 0, 0, 'WITHSCORES')[2] or '' }
end
return {
  'backlog', now,
  redis.call('HLEN', key('marks', p.target)),
  redis.call('ZCARD', key('inflight', p.target)),
  redis.call('ZCARD', key('blocked', p.target)),
  oldest and string.format('%d', oldest) or '',
  redis.call('GET', key('hold', p.target)) or '',
  run[1] or '', run[2] or '',
  held,
  redis.call('HGETALL', key('reconcileWrites', p.target)),
  priorities,
  exceptions,
  due,
  read_load(p.target),
  run[3] or '0',
  run[4] or '', run[5] or '',
}
