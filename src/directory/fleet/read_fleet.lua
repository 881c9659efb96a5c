-- Returns the processes of the fleet, the last beat of each duty, and since when versions and settings differ. Reads only.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV {}
-- RETURN {"read", now, [id, beat, ...], [duty, beat, ...], time since which versions differ, or "", the same for
--        settings}; a beat is its time, a space and the facts of the process as JSON; times are milliseconds
return {
  'read',
  clock(),
  redis.call('HGETALL', key('processes')),
  redis.call('HGETALL', key('lastBeats')),
  redis.call('GET', key('versionsDifferSince')) or '',
  redis.call('GET', key('settingsDifferSince')) or '',
}
