-- Returns the time of Redis and all places of one ring of the history (note_history.lua). Writes nothing.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { ring ('range:kind.name') }
-- RETURN {"read", time of Redis, [place, "slot number,value,value", ...]}
return { 'read', clock(), redis.call('HGETALL', key('ring', p.ring)) }
