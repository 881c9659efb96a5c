-- Stores for groups whose members were found equal when the platform last changed them (`groupsSeen`), so that a reconcile
-- reads the members only after a later change. A group that was deleted meanwhile has no link any more and is left out, and so is
-- a group with an unconfirmed removal (sign `u`, lua/pending_groups.lua), whose members the next reconcile has to read.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { target, seen: [[ref, the platform's time of change (meta.lastModified)]] }
-- RETURN {"noted", number of groups}
local noted = 0
for _, each in ipairs(p.seen) do
  local ref, changed = unpack(each)
  local is_linked = redis.call('HEXISTS', key('links', p.target), ref) == 1
  local is_unconfirmed = false
  for _, sign in ipairs(redis.call('HVALS', key('pendingMembers', p.target .. ':' .. string.match(ref, ':(.*)$')))) do
    is_unconfirmed = is_unconfirmed or sign == 'u'
  end
  if is_linked and not is_unconfirmed then
    redis.call('HSET', key('groupsSeen', p.target), ref, changed)
    noted = noted + 1
  end
end
return { 'noted', noted }
