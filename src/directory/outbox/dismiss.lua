-- Takes a dead letter off the list by order of an operator. It is an exception until the next sync of the resource.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, ref }
-- RETURN {"dismissed"} | {"unknown"}: no dead letter
-- NEEDS keys (clock, key, p), exceptions (set_exception)
if redis.call('ZREM', key('blocked', p.target), p.ref) == 0 then return { 'unknown' } end
set_exception(p.target, p.ref, 'Dropped', clock())
return { 'dismissed' }
