-- Returns the time of Redis and all places of one ring (note_history.lua). Reads only.
-- KEYS base
-- ARGV { ring (range:kind.name) }
-- RETURN {"read", now, [place, "slot,value,value", ...]}
return { 'read', clock(), redis.call('HGETALL', key('ring', p.ring)) }
