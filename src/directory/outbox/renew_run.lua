-- Renews or releases the lock of a reconcile run, if this run still holds it.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { target, fence, ttlMs (0 = release) }
-- RETURN {"held"} | {"lost"}
local run = key('run', p.target)
if redis.call('GET', run) ~= p.fence then return { 'lost' } end
if p.ttlMs > 0 then redis.call('PEXPIRE', run, p.ttlMs) else redis.call('DEL', run) end
return { 'held' }
