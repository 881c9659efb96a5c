-- Stores the digest of the mapping rules by which a reconcile run mapped all users, unless the stored value has changed
-- since the run began: a repair, or a process with other rules, asks for one more run (note_anew.lua).
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, digest, before (the value when the run began; absent: there was none) }
-- RETURN {"noted"} | {"changed"}: nothing was stored
-- NEEDS keys (key, p)
local name = key('mapped', p.target)
local has_changed = (redis.call('GET', name) or nil) ~= p.before
if has_changed then return { 'changed' } end
redis.call('SET', name, p.digest)
return { 'noted' }
