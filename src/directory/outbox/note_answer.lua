-- Records the result of a platform call for the breaker of a target (breaker.ts), which all processes share. It opens after
-- consecutive failures: then no calls are sent, but a single one, the probe, after each probe interval. A successful probe
-- closes it. `breaker:<target>` has: weight, the sum of the weights of the failures; status, the HTTP status of the last
-- failure; begunAt, the first failure since a success; since, the same, but for 401 the first 401 in a row; openedAt, probeAt
-- (next probe), probeMs (interval) and probing (a probe is under way), only while it is open; and for 401 refusedKey, the print
-- of the refused API key, 'refused:<method>', accepted (the refused key succeeded with another method) and partial (the refusal
-- was repeated after that).
-- `resumed:<target>` has for a while the time at which the breaker closed.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target (callStateOf of budget.ts), weight (of the failure; 0: the platform answered), limit (weight at which the
--        breaker opens), status and method (of the call), keyPrint (digest of the API key of this process), grows (whether each
--        probe interval is twice the last one), firstMs and longestMs (first and longest probe interval), keepMs (time without
--        failures after which the count expires), closes (a success that no probe is needed for: it is never late) }
-- RETURN the state afterwards: {"fine"}: no failures | {"failing"}: not open | {"opened"}: by this call | {"open"} |
--        {"closed"}: by this call
-- STEPS  1. A success closes the breaker and deletes the hash. While calls of another method were refused with 401 since their last
--           success, the breaker closes, and the refusal stays in the hash. A late success (`is_late`) changes nothing.
--        2. A failure is added to the hash; a 401 also with key and method.
--        3. The breaker opens at the limit; after a failed probe the next probe is due later. A late failure does neither.
-- NEEDS keys (clock, key, p)
local breaker = key('breaker', p.target)
local opened_at, probing, probe_ms, former_status =
  unpack(redis.call('HMGET', breaker, 'openedAt', 'probing', 'probeMs', 'status'))
-- Without a probe, a call that ends was sent before the opening: it neither closes the breaker nor delays probes.
local is_late = opened_at and not probing and not p.closes

-- Returns whether calls of a method were answered with 401 and have not succeeded since.
local function is_method_refused()
  for _, each in ipairs(redis.call('HKEYS', breaker)) do
    if string.sub(each, 1, #'refused:') == 'refused:' then return true end
  end
  return false
end
local is_success = p.weight == 0
if is_success then
  if is_late then return { 'open' } end
  if opened_at then redis.call('SET', key('resumed', p.target), clock(), 'PX', p.keepMs) end
  redis.call('HDEL', breaker, 'refused:' .. p.method) -- the success ends the refusal of its own method
  if not is_method_refused() then
    redis.call('DEL', breaker)
    return { opened_at and 'closed' or 'fine' }
  end
  redis.call('HDEL', breaker, 'openedAt', 'probing', 'probeAt', 'probeMs', 'weight', 'begunAt')
  -- The key may be a new one, so the refusal counts as partial only after it was repeated.
  if redis.call('HEXISTS', breaker, 'partial') == 0 then
    -- A success with another key says nothing about the refused one.
    local is_refused_key = redis.call('HGET', breaker, 'refusedKey') == p.keyPrint
    if is_refused_key then redis.call('HSET', breaker, 'accepted', 1) end
    redis.call('HDEL', breaker, 'status', 'since')
  elseif tonumber(former_status) ~= 401 then
    -- The success ends status and time of a failure; only those of a partial refusal stay.
    redis.call('HDEL', breaker, 'status', 'since')
  end
  return { opened_at and 'closed' or 'failing' }
end
if p.status == 401 then
  local is_other_key = redis.call('HGET', breaker, 'refusedKey') ~= p.keyPrint
  if is_other_key then redis.call('HDEL', breaker, 'accepted', 'partial') end
  redis.call('HSET', breaker, 'refusedKey', p.keyPrint)
  redis.call('HSETNX', breaker, 'refused:' .. p.method, clock())
  if redis.call('HEXISTS', breaker, 'accepted') == 1 then redis.call('HSET', breaker, 'partial', 1) end
end
local weight = redis.call('HINCRBY', breaker, 'weight', p.weight)
local now = clock()
redis.call('HSETNX', breaker, 'begunAt', now)
-- A refused key (401) needs a person, so its time is that of the first 401. Other failures tell since when no call has
-- succeeded, also if the first failure was a 401.
if p.status ~= 401 then
  redis.call('HSET', breaker, 'since', redis.call('HGET', breaker, 'begunAt'))
elseif tonumber(former_status) ~= 401 then
  redis.call('HSET', breaker, 'since', now)
end
redis.call('HSET', breaker, 'status', p.status)
redis.call('PEXPIRE', breaker, p.keepMs)
if is_late then return { 'open' } end
if opened_at then -- the probe has failed
  local wait = p.grows and math.min(probe_ms * 2, p.longestMs) or p.firstMs
  redis.call('HDEL', breaker, 'probing')
  redis.call('HSET', breaker, 'probeMs', wait, 'probeAt', now + wait)
  return { 'open' }
end
if weight < p.limit then return { 'failing' } end
redis.call('HSET', breaker, 'openedAt', now, 'probeMs', p.firstMs, 'probeAt', now + p.firstMs)
return { 'opened' }
