-- Renews or releases a lease if the caller holds it.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { lease (family), name, ttlMs (0 = release) }
-- RETURN {"held"} | {"lost"}
local lease = key(p.lease)
if redis.call('GET', lease) ~= p.name then return { 'lost' } end
if p.ttlMs > 0 then redis.call('PEXPIRE', lease, p.ttlMs) else redis.call('DEL', lease) end
return { 'held' }
