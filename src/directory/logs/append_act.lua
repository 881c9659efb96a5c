-- Appends an order of an operator to the audit log (acts.ts). Without entries it only removes those that are too old.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { log: { entries, maxEntries, maxAgeMs } (lua/log.lua) }
-- RETURN {"written", number of removed entries}
-- NEEDS log
return { 'written', write_chained('acts', nil, p.log) }
