-- Claims an account or group of a target for a short time. Connections of one target may be on different cluster nodes, so
-- each claims the platform id here before it checks the others' links and saves its own.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { id ('target:kind:platform id'), owner (connection and ref), ms (duration of the claim) }
-- RETURN {"claimed"} | {"busy"}: another owner has claimed it
-- NEEDS keys (key, p)
local claim = key('claim', p.id)
local holder = redis.call('GET', claim)
local is_of_another = holder and holder ~= p.owner
if is_of_another then return { 'busy' } end
redis.call('SET', claim, p.owner, 'PX', p.ms)
return { 'claimed' }
