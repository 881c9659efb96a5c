-- Takes the right to link an account or group of a target, for a short time. Connections of one target have keys on
-- different nodes, so each asks here before it looks at the links of the others and saves its own.
-- KEYS base
-- ARGV { id (target:kind:platform id), owner (connection and ref), ms }
-- RETURN {"claimed"} | {"busy"}
local claim = key('claim', p.id)
local held = redis.call('GET', claim)
if held and held ~= p.owner then return { 'busy' } end
redis.call('SET', claim, p.owner, 'PX', p.ms)
return { 'claimed' }
