-- Holds a target by order of an operator, or of a reconcile run that found another tenant at its address: no more marks are
-- delivered to the queue, and running syncs lose their lease before their next step. `hold:<target>` has the order as JSON:
-- since, by, note. A hold of a run replaces that of an operator, whose release would let syncs write to the other tenant. Each
-- keeps the other one: the operator's is in `operator` and `operatorNote` then.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { target, by (name of the operator; 'reconcile': a reconcile run), note (reason, for display) }
-- RETURN {"held"} | {"already"}: another hold is in force
local hold = key('hold', p.target)
local order = { since = clock(), by = p.by, note = p.note }
local stored = redis.call('GET', hold)
if stored then
  local former = cjson.decode(stored)
  if p.by == 'reconcile' and former.by ~= 'reconcile' then
    order.since, order.operator, order.operatorNote = former.since, former.by, former.note
  elseif p.by ~= 'reconcile' and former.by == 'reconcile' and not former.operator then
    order = { since = former.since, by = former.by, note = former.note, operator = p.by, operatorNote = p.note }
  else
    return { 'already' }
  end
end
redis.call('SET', hold, cjson.encode(order))
-- Keys of leases, up to a thousand: one command for a thousand leases costs less than a thousand commands. `inflight` has the
-- refs whose sync may be running.
local leases = {}
for index, ref in ipairs(redis.call('ZRANGE', key('inflight', p.target), 0, -1)) do
  leases[(index - 1) % 1000 + 1] = key('lease', p.target .. ':' .. ref)
  if #leases == 1000 then redis.call('DEL', unpack(leases)); leases = {} end
end
if #leases > 0 then redis.call('DEL', unpack(leases)) end
return { 'held' }
