-- Returns the processes of the fleet, the last beat of each duty, and since when versions and settings differ (note_beat.lua).
-- Writes nothing.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV {}
-- RETURN {"read", time of Redis, [id of a process, beat, ...], [duty, beat, ...], time since which versions differ, or "", the
--        same for settings, time of the last data before Redis came back empty, or ""}; a beat is its time, a space and the facts
--        of the process as JSON
-- NEEDS keys (clock, key)
return {
  'read',
  clock(),
  redis.call('HGETALL', key('processes')),
  redis.call('HGETALL', key('lastBeats')),
  redis.call('GET', key('versionsDifferSince')) or '',
  redis.call('GET', key('settingsDifferSince')) or '',
  redis.call('GET', key('emptied')) or '',
}
