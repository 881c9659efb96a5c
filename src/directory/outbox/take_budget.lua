-- Takes one request from the rate limit of a target, which all processes share: a token bucket that is stored as the time when
-- it is full again (`budget:<target>`, Unix milliseconds with fractions). `paused:<call state>` exists during a pause of
-- all calls (budget.ts).
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, callState (callStateOf of budget.ts), intervalMs (between requests), burst (requests that a full bucket allows at
--        once), hasToken (true: the request took its token earlier, and has waited until it may be sent) }
-- RETURN {"taken", milliseconds until the request may be sent, 1 when calls have failed lately}: after a wait the script is called
--          again with `hasToken`, because the calls may be paused by then
--        | {"paused", milliseconds left} | {"open", milliseconds until the breaker lets a probe through}
-- NEEDS keys (clock, key, p)
local now = clock()
local paused = redis.call('PTTL', key('paused', p.callState)) -- negative: there is no pause
local bucket = key('budget', p.target)
local full_at = math.max(tonumber(redis.call('GET', bucket) or '0'), now)
-- Time until the bucket has a token for this request; it gets one in each interval.
local wait = p.hasToken and 0 or math.max(0, full_at - (p.burst - 1) * p.intervalMs - now)
if paused > wait then return { 'paused', paused } end
local breaker = key('breaker', p.callState)
-- `probeAt` exists while the breaker is open (note_answer.lua).
local probe_at, probe_ms = unpack(redis.call('HMGET', breaker, 'probeAt', 'probeMs'))
if probe_at then
  if tonumber(probe_at) > now then return { 'open', tonumber(probe_at) - now } end
  -- This request is the probe, unless it still has to wait; the next one is allowed after the probe interval.
  if wait == 0 then redis.call('HSET', breaker, 'probeAt', now + probe_ms, 'probing', 1) end
end
if p.hasToken then return { 'taken', 0, redis.call('EXISTS', breaker) } end
-- A full bucket need not be stored, so it expires, a second after it is full again.
redis.call('SET', bucket, string.format('%.3f', full_at + p.intervalMs), 'PX', math.ceil(full_at - now + p.intervalMs) + 1000)
return { 'taken', math.ceil(wait), redis.call('EXISTS', breaker) }
