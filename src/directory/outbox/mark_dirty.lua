-- Marks refs for a sync without a change of the resource (retry, reconcile, order of an operator).
-- KEYS base
-- ARGV { targets, refs, priority, request }
-- RETURN {"marked", number}
-- NEEDS marks
for _, ref in ipairs(p.refs) do mark(ref, p.priority) end
return { 'marked', #p.refs }
