-- Holds a target: no more marks are delivered to the queue, and running syncs lose their lease before their next step.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { target, by, note }
-- RETURN {"held"} | {"already"}
local hold = key('hold', p.target)
if redis.call('EXISTS', hold) == 1 then return { 'already' } end
redis.call('SET', hold, cjson.encode({ since = clock(), by = p.by, note = p.note }))
local leases = {}
for index, ref in ipairs(redis.call('ZRANGE', key('inflight', p.target), 0, -1)) do
  leases[(index - 1) % 1000 + 1] = key('lease', p.target .. ':' .. ref)
  -- One command for a thousand leases costs less than a thousand commands.
  if #leases == 1000 then redis.call('DEL', unpack(leases)); leases = {} end
end
if #leases > 0 then redis.call('DEL', unpack(leases)) end
return { 'held' }
