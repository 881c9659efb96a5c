-- Stores when groups were last changed at the platform, because their members were found equal. A group that was deleted
-- meanwhile has no link any more and is left out.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { target, seen: [[ref, the platform's time of change]] }
-- RETURN {"noted", number}
local noted = 0
for _, each in ipairs(p.seen) do
  local ref, changed = unpack(each)
  if redis.call('HEXISTS', key('links', p.target), ref) == 1 then
    redis.call('HSET', key('groupsSeen', p.target), ref, changed)
    noted = noted + 1
  end
end
return { 'noted', noted }
