-- Holds a target by order of an operator: no more marks are delivered to the queue, and running syncs lose their lease before
-- their next step. `hold:<target>` has the order as JSON: since, by, note.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { target, by (name of the operator), note (of the operator) }
-- RETURN {"held"} | {"already"}: another hold is in force
local hold = key('hold', p.target)
if redis.call('EXISTS', hold) == 1 then return { 'already' } end
redis.call('SET', hold, cjson.encode({ since = clock(), by = p.by, note = p.note }))
-- Keys of leases, up to a thousand: one command for a thousand leases costs less than a thousand commands. `inflight` has the
-- refs whose sync may be running.
local leases = {}
for index, ref in ipairs(redis.call('ZRANGE', key('inflight', p.target), 0, -1)) do
  leases[(index - 1) % 1000 + 1] = key('lease', p.target .. ':' .. ref)
  if #leases == 1000 then redis.call('DEL', unpack(leases)); leases = {} end
end
if #leases > 0 then redis.call('DEL', unpack(leases)) end
return { 'held' }
