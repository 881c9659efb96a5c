-- Takes a dead letter off the list by order of an operator. It is an exception until the next sync of the resource.
-- KEYS key base. lua/keys.lua explains these header lines, `p` (the arguments), `key`, `clock` and unexplained arguments
-- ARGV { target, ref }
-- RETURN {"dismissed"} | {"unknown"}: no dead letter
-- NEEDS exceptions
if redis.call('ZREM', key('blocked', p.target), p.ref) == 0 then return { 'unknown' } end
set_exception(p.target, p.ref, 'Dropped', clock())
return { 'dismissed' }
