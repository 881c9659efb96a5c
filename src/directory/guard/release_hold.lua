-- Ends the hold of an operator, or the one because of another tenant. The hold may have been replaced since the caller read it,
-- so its holder is checked here. Relays are notified if the target is on hold no longer.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, tenant (true: the hold because of another tenant) }
-- RETURN {"released"} | {"operator"}: the operator's hold that was kept beside is in force again | {"none"}: no such hold
-- NEEDS keys (key, p)
local hold = key('hold', p.target)
local stored = redis.call('GET', hold)
local order = stored and cjson.decode(stored)
-- `by` is 'reconcile' if a reconcile run holds the target, because it found another tenant at the address (hold.lua).
if not order or (order.by == 'reconcile') ~= p.tenant then return { 'none' } end
if order.operator then
  redis.call('SET', hold, cjson.encode({ since = order.since, by = order.operator, note = order.operatorNote }))
  return { 'operator' }
end
redis.call('DEL', hold)
redis.call('PUBLISH', key('marked'), p.target)
return { 'released' }
