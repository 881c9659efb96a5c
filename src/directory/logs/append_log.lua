-- Appends entries to the provisioning log that no other script has written, or only removes entries that are too old.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { target, log: { entries: [[entry, personal data]], maxEntries, maxAgeMs } }
-- RETURN {"written", number of removed entries}
-- NEEDS log
return { 'written', write_log(p.target, p.log) }
