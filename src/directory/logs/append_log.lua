-- Appends entries to the provisioning log that no other script has written.
-- KEYS base
-- ARGV { target, log: { entries, maxEntries, maxAgeMs } }
-- RETURN {"written"}
-- NEEDS log
write_log(p.target, p.log)
return { 'written' }
