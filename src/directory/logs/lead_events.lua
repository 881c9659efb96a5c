-- Keeps or gives back the right to push events, if it is ours.
-- KEYS base
-- ARGV { name, ttlMs (0 = give back) }
-- RETURN {"held"} | {"lost"}
local lease = key('eventsLease')
if redis.call('GET', lease) ~= p.name then return { 'lost' } end
if p.ttlMs > 0 then redis.call('PEXPIRE', lease, p.ttlMs) else redis.call('DEL', lease) end
return { 'held' }
