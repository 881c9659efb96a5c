-- Ends the running syncs of a target before their next step, because another connection holds the target: at its address may be
-- another tenant (lua/holds.lua).
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target }
-- RETURN {"ended"}
-- NEEDS keys (p), holds (end_leases)
end_leases(p.target)
return { 'ended' }
