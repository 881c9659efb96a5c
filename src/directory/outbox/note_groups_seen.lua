-- Stores when the platform last changed the groups whose members were found equal (`groupsSeen`), so that a reconcile reads the
-- members only after a later change. A group that was deleted meanwhile has no link any more and is left out. So is a group that
-- was synced since it was read: its sync may have noted that the next run has to read the members (ack_members.lua).
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, seen: [[ref, the platform's time of change (meta.lastModified), SHA-1 of the text of the link]] }
-- RETURN {"noted", number of groups}
-- NEEDS keys (key, p)
local noted = 0
for _, each in ipairs(p.seen) do
  local ref, changed, link = unpack(each)
  local text = redis.call('HGET', key('links', p.target), ref)
  local is_syncing = redis.call('EXISTS', key('lease', p.target .. ':' .. ref)) == 1
  if text and not is_syncing and redis.sha1hex(text) == link then
    redis.call('HSET', key('groupsSeen', p.target), ref, changed)
    noted = noted + 1
  end
end
return { 'noted', noted }
