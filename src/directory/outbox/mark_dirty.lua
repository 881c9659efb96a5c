-- Marks refs for a sync without a change of the resource (retry, reconcile, order of an operator). A ref that is marked already
-- keeps the request of its change, because an order for it only makes the sync happen now.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { targets, refs, priority, request }
-- RETURN {"marked", number of refs}
-- NEEDS keys (clock, key, p), marks (mark_at)
local order, now = p.request, clock()
for _, target in ipairs(p.targets) do
  for _, ref in ipairs(p.refs) do
    local mark_text = redis.call('HGET', key('marks', target), ref)
    -- The third word of a mark is its request (lua/mark_texts.lua).
    p.request = mark_text and string.match(mark_text, '^%d+ %d+ (.*)$') or order
    mark_at(target, ref, p.priority, now)
  end
end
return { 'marked', #p.refs }
