-- Appends an order of an operator to the audit log (acts.ts), or only removes entries that are too old.
-- KEYS base
-- ARGV { log: { entries: [[entry, personal data]], maxEntries, maxAgeMs } }
-- RETURN {"written", number of removed entries}
-- NEEDS log
return { 'written', write_chained('acts', nil, p.log) }
