-- Returns the processes of the fleet, the last beat of each duty, and since when versions differ. Reads only.
-- KEYS base
-- ARGV {}
-- RETURN {"read", now, [id, "at process", ...], [duty, "at process", ...], milliseconds or ""}
return {
  'read',
  clock(),
  redis.call('HGETALL', key('processes')),
  redis.call('HGETALL', key('lastBeats')),
  redis.call('GET', key('versionsDifferSince')) or '',
}
