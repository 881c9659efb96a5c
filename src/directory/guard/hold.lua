-- Holds a target by order of an operator, or of a reconcile run that found another tenant at its address: no more marks are
-- delivered to the queue, and running syncs lose their lease before their next step. `hold:<target>` has the order as JSON:
-- since, by, note. If both hold the target, the hold of the run is in force, because a release by the operator would let syncs
-- write to the other tenant. The order then keeps name and note of the operator in `operator` and `operatorNote`.
-- KEYS key base. lua/keys.lua explains these header lines, `p` (the arguments), `key`, `clock` and unexplained arguments
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
-- One command for many leases costs less than many commands. `inflight` has the refs whose sync may be running.
local LEASES_AT_ONCE = 1000
local leases = {}
for index, ref in ipairs(redis.call('ZRANGE', key('inflight', p.target), 0, -1)) do
  leases[(index - 1) % LEASES_AT_ONCE + 1] = key('lease', p.target .. ':' .. ref)
  if #leases == LEASES_AT_ONCE then redis.call('DEL', unpack(leases)); leases = {} end
end
if #leases > 0 then redis.call('DEL', unpack(leases)) end
return { 'held' }
