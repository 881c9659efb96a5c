-- Stores the first of two approvals (first-approvals.ts) with its audit entry. The changes stay held until a second person
-- approves the same list.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, source: guardHeld|guardRejected (family of the changes), serial (number of the approval),
--        field (of the hash `guardFirst:<target>`: source and id of the list), first (the first approval as first-approvals.ts
--        stores it, without its time `at`), choice (id of the list of chosen changes; absent: all), expiryMs (of the first
--        approval), most (first approvals of a target), act (audit entry: `log` of lua/log.lua; absent: none) }
-- RETURN {"noted"} | {"exists"}: the list has a first approval | {"full"}: there are `most` first approvals |
--        {"expired"}: the approval is too old | {"unknown"}: there is no such approval
-- NEEDS keys (clock, key, p), guard (guard_refusal), log (write_chained)
local refused = guard_refusal(p.source, p.serial)
if refused then return { refused } end
local firsts = key('guardFirst', p.target)
if redis.call('HEXISTS', firsts, p.field) == 1 then return { 'exists' } end
if redis.call('HLEN', firsts) >= p.most then return { 'full' } end
p.first.at = clock()
redis.call('HSET', firsts, p.field, cjson.encode(p.first))
redis.call('PEXPIRE', firsts, p.expiryMs)
if p.choice then redis.call('PEXPIRE', key('guardChoice', p.target .. ':' .. p.choice), p.expiryMs) end
if p.act then write_chained('acts', nil, p.act) end -- nil: the log of the connection, not of a target
return { 'noted' }
