-- Deletes security events that are too old, and returns the state of their stream. Each call with maxAgeMs renews the expiry of
-- the keys, so that Redis deletes them after events are switched off.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { maxAgeMs (of an event that is not delivered; absent: delete nothing) }
-- RETURN {"read", number of pending events, age of the oldest one in ms, number of stored refused events,
--        [name, value, ...] of `eventCounts`: delivered, refused, dropped (deleted undelivered), droppedAt (last time of that,
--        Unix milliseconds), and the last delivery error}
-- NEEDS keys (clock, key, p)
local stream, refusals, counts = key('events'), key('eventsRefused'), key('eventCounts')
if p.maxAgeMs then
  -- An entry id begins with the time of the entry in Unix milliseconds.
  local oldest_kept = string.format('%d', clock() - p.maxAgeMs)
  local dropped = redis.call('XTRIM', stream, 'MINID', oldest_kept)
  if dropped > 0 then
    redis.call('HINCRBY', counts, 'dropped', dropped)
    redis.call('HSET', counts, 'droppedAt', string.format('%d', clock()))
  end
  redis.call('XTRIM', refusals, 'MINID', oldest_kept)
  for _, name in ipairs({ stream, refusals }) do redis.call('PEXPIRE', name, p.maxAgeMs) end
end
local oldest = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
local oldest_id = oldest and oldest[1]
local age = oldest_id and math.max(0, clock() - tonumber(string.match(oldest_id, '^%d+'))) or 0
return { 'read', redis.call('XLEN', stream), age, redis.call('XLEN', refusals), redis.call('HGETALL', counts) }
