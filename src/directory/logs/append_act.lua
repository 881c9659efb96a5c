-- Appends an order of an operator to the audit log (acts.ts), or only removes entries that are too old.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { log: { entries: [[entry, personal data]], maxEntries, maxAgeMs } }
-- RETURN {"written", number of removed entries}
-- NEEDS log
return { 'written', write_chained('acts', nil, p.log) }
