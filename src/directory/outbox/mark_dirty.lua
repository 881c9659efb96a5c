-- Marks refs for a sync without a change of the resource (retry, reconcile, order of an operator; lua/marks.lua).
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { targets, refs, priority, request }
-- RETURN {"marked", number of refs}
-- NEEDS keys (clock, p), marks (mark_by_order)
local now = clock()
for _, target in ipairs(p.targets) do
  for _, ref in ipairs(p.refs) do mark_by_order(target, ref, p.priority, now) end
end
return { 'marked', #p.refs }
