-- Returns the time of Redis and all places of one ring of the history (note_history.lua). Writes nothing.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { ring ('range:kind.name') }
-- RETURN {"read", time of Redis, [place, "slot number,value,value", ...]}
-- NEEDS keys (clock, key, p)
return { 'read', clock(), redis.call('HGETALL', key('ring', p.ring)) }
