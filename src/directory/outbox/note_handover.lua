-- Stores the state of a handover (the move of a closed account's workbooks and reports to the team) and of some of its items,
-- together with their log entries.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, ref (of the user), anew (true: the stored state is deleted first), fields: [[name, text]] (of the hash
--        `handover:<target>:<ref>`, handover-store.ts), log (as append_log.lua) }
-- RETURN {"noted"}
-- NEEDS keys (clock, key, p), log (write_log)
local record = key('handover', p.target .. ':' .. p.ref)
if p.anew then redis.call('DEL', record) end
for _, pair in ipairs(p.fields) do
  local name, text = unpack(pair)
  redis.call('HSET', record, name, text)
end
redis.call('ZADD', key('handovers', p.target), clock(), p.ref)
write_log(p.target, p.log)
return { 'noted' }
