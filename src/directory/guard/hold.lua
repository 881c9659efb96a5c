-- Holds a target by order of an operator, or of a reconcile run that found another tenant at its address (lua/holds.lua).
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, by (name of the operator; 'reconcile': a reconcile run), note (reason, for display),
--        replaces (true: the hold takes the place of an operator's) }
-- RETURN {"held"} | {"already"}: the target has a hold of the same kind (lua/holds.lua)
-- NEEDS keys (p), holds (hold_target)
return { hold_target(p.target, p.by, p.note, p.replaces) and 'held' or 'already' }
