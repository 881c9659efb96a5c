-- Renews or releases the lease for pushing events, if this process holds it.
-- KEYS base
-- ARGV { name, ttlMs (0 = give back) }
-- RETURN {"held"} | {"lost"}
local lease = key('eventsLease')
if redis.call('GET', lease) ~= p.name then return { 'lost' } end
if p.ttlMs > 0 then redis.call('PEXPIRE', lease, p.ttlMs) else redis.call('DEL', lease) end
return { 'held' }
