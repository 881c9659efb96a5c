-- Marks refs for another look without any change of the resource (retry, reconcile, a person asks).
-- KEYS base
-- ARGV { targets, refs, lane, request }
-- RETURN {"marked", how many}
-- NEEDS marks
for _, ref in ipairs(p.refs) do mark(ref, p.lane) end
return { 'marked', #p.refs }
