-- One request out of the budget that all replicas share: a token bucket kept as the time at which it is full again.
-- KEYS base
-- ARGV { target, intervalMs (between requests), burst }
-- RETURN {"taken", milliseconds until the request may be sent} | {"paused", milliseconds left}
local now = clock()
local paused = redis.call('PTTL', key('paused', p.target))
local bucket = key('budget', p.target)
local full = math.max(tonumber(redis.call('GET', bucket) or '0'), now)
local wait = math.max(0, full - (p.burst - 1) * p.intervalMs - now)
if paused > wait then return { 'paused', paused } end
redis.call('SET', bucket, string.format('%.3f', full + p.intervalMs), 'PX', math.ceil(full - now + p.intervalMs) + 1000)
return { 'taken', math.ceil(wait) }
