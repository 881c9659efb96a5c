-- Returns the backlog of a target: marks, dead letters, held changes, exceptions, and the last reconcile run. Writes nothing.
-- The time that it takes does not depend on the number of marks.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, kinds, exceptions (reasons of exceptions) }
-- RETURN {"backlog", time of Redis, number of marks without those that wait for an operator (BEHIND_HELD, lua/keys.lua), number of
--        delivered marks, number of dead letters, time of the oldest change that is not applied (or ''), hold (JSON as
--        lua/holds.lua stores it, or ''), last run (JSON, or ''), time of the last successful run (or ''), held changes of each
--        kind, [action of reconcile runs, number of its writes, ...], waiting marks of each priority, [number of exceptions, time
--        of the oldest or ''] of each reason, marks that are due now, load (read_load of lua/load.lua), number of consecutive runs
--        that failed or did not compare everything, time since which a schedule starts runs (or ''), longest time between two of
--        them (or ''), end of the first of the failed runs (or ''), time of the oldest dead letter (or '')}
-- NEEDS keys (BEHIND_HELD, clock, DEACTIVATION, key, p, RECONCILE, SPAN), load (read_load)

-- Time of the oldest change that is not applied. `accepted` has the delivered marks by the time of their oldest change. `dirty` has
-- the other marks by due time: the time of the change, or a later one if the sync was put off, so that such a change looks younger.
local _, accepted_at = unpack(redis.call('ZRANGE', key('accepted', p.target), 0, 0, 'WITHSCORES'))
local oldest = tonumber(accepted_at)
-- Notes the time of a change, if it is the oldest so far.
local function note_age(time)
  if not oldest or time < oldest then oldest = time end
end
local last_run, last_success_at, failures, expected_since, expected_gap_ms, failing_since = unpack(redis.call('HMGET',
  key('reconcile', p.target), 'last', 'lastSuccessAt', 'failures', 'expectedSince', 'expectedGapMs', 'failingSince'))
local _, blocked_since = unpack(redis.call('ZRANGE', key('blocked', p.target), 0, 0, 'WITHSCORES'))
local held = {}
for index, kind in ipairs(p.kinds) do
  held[index] = redis.call('ZCARD', key('guardHeld', p.target .. ':' .. kind))
end
local priorities, due, now = {}, 0, clock()
for priority = DEACTIVATION, RECONCILE do
  local from, to = string.format('%d', priority * SPAN), '(' .. string.format('%d', (priority + 1) * SPAN)
  priorities[priority + 1] = redis.call('ZCOUNT', key('dirty', p.target), from, to)
  due = due + redis.call('ZCOUNT', key('dirty', p.target), from, string.format('%d', priority * SPAN + now))
  local _, score = unpack(redis.call('ZRANGEBYSCORE', key('dirty', p.target), from, to, 'WITHSCORES', 'LIMIT', 0, 1))
  if score then note_age(tonumber(score) % SPAN) end
end
local behind_held = redis.call('ZCOUNT', key('dirty', p.target), string.format('%d', BEHIND_HELD * SPAN), '+inf')
local exceptions = {}
for index, reason in ipairs(p.exceptions) do
  local list = key('exceptions', p.target .. ':' .. reason)
  local _, since = unpack(redis.call('ZRANGE', list, 0, 0, 'WITHSCORES'))
  exceptions[index] = { redis.call('ZCARD', list), since or '' }
end
return {
  'backlog', now,
  redis.call('HLEN', key('marks', p.target)) - behind_held,
  redis.call('ZCARD', key('inflight', p.target)),
  redis.call('ZCARD', key('blocked', p.target)),
  oldest and string.format('%d', oldest) or '',
  redis.call('GET', key('hold', p.target)) or '',
  last_run or '', last_success_at or '',
  held,
  redis.call('HGETALL', key('reconcileWrites', p.target)),
  priorities,
  exceptions,
  due,
  read_load(p.target),
  failures or '0',
  expected_since or '', expected_gap_ms or '',
  failing_since or '', blocked_since or '',
}
