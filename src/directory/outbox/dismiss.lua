-- Takes a dead letter off the list by order of an operator. It is an exception until the next sync of the resource.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { target, ref }
-- RETURN {"dismissed"} | {"unknown"}: no dead letter
-- NEEDS exceptions
if redis.call('ZREM', key('blocked', p.target), p.ref) == 0 then return { 'unknown' } end
set_exception(p.target, p.ref, 'Dropped', clock())
return { 'dismissed' }
