-- Records the result of a platform call for the shared breaker, which opens after consecutive failures.
-- KEYS base
-- ARGV { target, weight (0 = the platform answered), limit (weight at which it opens), status, grows (whether probes
--        become rarer), firstMs, longestMs (between probes), keepMs (time without failures after which the count expires) }
-- RETURN {"fine"} | {"failing"} | {"opened"} | {"open"} | {"closed"}
local breaker = key('breaker', p.target)
local opened_at, probing, probe_ms = unpack(redis.call('HMGET', breaker, 'openedAt', 'probing', 'probeMs'))
-- While no probe is under way, only calls from before the opening end: they neither close the breaker nor delay probes.
local late = opened_at and not probing
if p.weight == 0 then
  if late then return { 'open' } end
  redis.call('DEL', breaker)
  return { opened_at and 'closed' or 'fine' }
end
local weight = redis.call('HINCRBY', breaker, 'weight', p.weight)
redis.call('HSET', breaker, 'status', p.status)
redis.call('PEXPIRE', breaker, p.keepMs)
if late then return { 'open' } end
local now = clock()
if opened_at then
  local wait = p.grows and math.min(probe_ms * 2, p.longestMs) or p.firstMs
  redis.call('HDEL', breaker, 'probing')
  redis.call('HSET', breaker, 'probeMs', wait, 'probeAt', now + wait)
  return { 'open' }
end
if weight < p.limit then return { 'failing' } end
redis.call('HSET', breaker, 'openedAt', now, 'probeMs', p.firstMs, 'probeAt', now + p.firstMs)
return { 'opened' }
