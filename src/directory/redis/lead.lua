-- Renews or releases the lease of a process for a duty that one process has at a time (lease.ts), or the lock of a reconcile
-- run (runs.ts), if the caller holds it. The key of the lease has the name of its holder, and expires with the lease.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { lease (family of its key), name (of the caller), ttlMs (new duration; 0: release) }
-- RETURN {"held"} | {"lost"}: it expired, or another process holds it
-- NEEDS keys (key, p)
local lease = key(p.lease)
local is_holder = redis.call('GET', lease) == p.name
if not is_holder then return { 'lost' } end
if p.ttlMs > 0 then redis.call('PEXPIRE', lease, p.ttlMs) else redis.call('DEL', lease) end
return { 'held' }
