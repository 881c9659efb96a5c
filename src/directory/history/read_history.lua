-- Returns the time of Redis and all places of one ring (note_history.lua). Reads only.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { ring (range:kind.name) }
-- RETURN {"read", now, [place, "slot,value,value", ...]}
return { 'read', clock(), redis.call('HGETALL', key('ring', p.ring)) }
