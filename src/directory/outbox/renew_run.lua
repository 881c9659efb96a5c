-- Renews or releases the lock of a reconcile run, if this run still holds it.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { target, fence (number of the run; `run:<target>` has it while the run holds the lock), ttlMs (0: release) }
-- RETURN {"held"} | {"lost"}: it expired, or another run holds it
local run = key('run', p.target)
local is_holder = redis.call('GET', run) == p.fence
if not is_holder then return { 'lost' } end
if p.ttlMs > 0 then redis.call('PEXPIRE', run, p.ttlMs) else redis.call('DEL', run) end
return { 'held' }
