-- Stores when the platform last changed the groups whose members were found equal (`groupsSeen`), so that a reconcile reads the
-- members only after a later change. A group that was deleted meanwhile has no link any more and is left out.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, seen: [[ref, the platform's time of change (meta.lastModified)]] }
-- RETURN {"noted", number of groups}
-- NEEDS keys (key, p)
local noted = 0
for _, each in ipairs(p.seen) do
  local ref, changed = unpack(each)
  local is_linked = redis.call('HEXISTS', key('links', p.target), ref) == 1
  if is_linked then
    redis.call('HSET', key('groupsSeen', p.target), ref, changed)
    noted = noted + 1
  end
end
return { 'noted', noted }
