-- Stores the first of two approvals with its audit entry. The changes stay held.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { target, source: guardHeld|guardRejected, serial, field (in guardFirst), first (record of first-approvals.ts, without
--        `at`), choice (id of the list of chosen changes; absent: all), expiryMs, most (first approvals of a target), act (absent: none) }
-- RETURN {"noted"} | {"exists"} | {"full"} | {"expired"} | {"unknown"}
-- NEEDS guard, log
local refused = guard_refusal(p.source, p.serial)
if refused then return { refused } end
local firsts = key('guardFirst', p.target)
if redis.call('HEXISTS', firsts, p.field) == 1 then return { 'exists' } end
if redis.call('HLEN', firsts) >= p.most then return { 'full' } end
p.first.at = clock()
redis.call('HSET', firsts, p.field, cjson.encode(p.first))
redis.call('PEXPIRE', firsts, p.expiryMs)
if p.choice then redis.call('PEXPIRE', key('guardChoice', p.target .. ':' .. p.choice), p.expiryMs) end
if p.act then write_chained('acts', nil, p.act) end
return { 'noted' }
