-- Appends entries to the provisioning log of a target, for writes whose result no other script stores: the scripts that store a
-- result append its entries themselves. Without entries it only removes old ones over the limits.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, log: { entries, maxEntries, maxAgeMs } (lua/log.lua) }
-- RETURN {"written", number of removed entries}
-- NEEDS keys (p), log (write_log)
return { 'written', write_log(p.target, p.log) }
