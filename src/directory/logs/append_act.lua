-- Appends an order of an operator to the audit log (acts.ts).
-- KEYS base
-- ARGV { log: { entries, maxEntries, maxAgeMs } }
-- RETURN {"written"}
-- NEEDS log
write_chained(key('acts'), key('actsChain'), p.log)
return { 'written' }
