-- Writes down what an operator ordered, with who and how (acts.ts).
-- KEYS base
-- ARGV { log: { entries, maxEntries, maxAgeMs } }
-- RETURN {"written"}
-- NEEDS log
write_chained(key('acts'), key('actsChain'), p.log)
return { 'written' }
