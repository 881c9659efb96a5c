-- Returns the processes of the fleet, the last beat of each duty, and since when versions differ. Reads only.
-- KEYS base
-- ARGV {}
-- RETURN {"read", now, [id, beat, ...], [duty, beat, ...], time since which versions differ, or ""}; a beat is its time, a
--        space and the facts of the process as JSON; times are milliseconds
return {
  'read',
  clock(),
  redis.call('HGETALL', key('processes')),
  redis.call('HGETALL', key('lastBeats')),
  redis.call('GET', key('versionsDifferSince')) or '',
}
