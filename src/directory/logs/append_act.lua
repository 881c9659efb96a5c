-- Appends an order of an operator to the audit log (acts.ts). Without entries it only removes old ones over the limits.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { log: { entries, maxEntries, maxAgeMs } (lua/log.lua) }
-- RETURN {"written", number of removed entries}
-- NEEDS keys (p), log (write_chained)
return { 'written', write_chained('acts', nil, p.log) } -- nil: the log of the connection, not of a target
