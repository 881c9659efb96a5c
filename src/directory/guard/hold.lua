-- Holds a target: no more marks are delivered to the queue, and running syncs lose their lease before their next step.
-- KEYS base
-- ARGV { target, by, note }
-- RETURN {"held"} | {"already"}
local hold = key('hold', p.target)
if redis.call('EXISTS', hold) == 1 then return { 'already' } end
redis.call('SET', hold, cjson.encode({ since = clock(), by = p.by, note = p.note }))
for _, ref in ipairs(redis.call('ZRANGE', key('inflight', p.target), 0, -1)) do
  redis.call('DEL', key('lease', p.target .. ':' .. ref))
end
return { 'held' }
