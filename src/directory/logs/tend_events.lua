-- Deletes expired events and returns the state of the stream. Each call renews the expiry of the keys, so that Redis deletes
-- them after events are switched off.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { maxAgeMs (absent: delete nothing) }
-- RETURN {"read", number of pending events, age of the oldest one in ms, number of stored refused events,
--        [name, value, ...] of the counts}
local stream, refusals, counts = key('events'), key('eventsRefused'), key('eventCounts')
if p.maxAgeMs then
  local over = redis.call('XTRIM', stream, 'MINID', string.format('%d', clock() - p.maxAgeMs))
  if over > 0 then redis.call('HINCRBY', counts, 'dropped', over) end
  redis.call('XTRIM', refusals, 'MINID', string.format('%d', clock() - p.maxAgeMs))
  for _, name in ipairs({ stream, refusals }) do redis.call('PEXPIRE', name, p.maxAgeMs) end
end
local oldest = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
local age = oldest and math.max(0, clock() - tonumber(string.match(oldest[1], '^%d+'))) or 0
return { 'read', redis.call('XLEN', stream), age, redis.call('XLEN', refusals), redis.call('HGETALL', counts) }
