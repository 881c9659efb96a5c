-- Deletes first approvals (first-approvals.ts) that are not valid any more, except those that were stored anew meanwhile.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, firsts: [[field in the hash `guardFirst`, its text as it was read]] }
-- RETURN {"forgotten", number of deleted first approvals}
-- NEEDS keys (key, p)
local firsts, forgotten = key('guardFirst', p.target), 0
for _, each in ipairs(p.firsts) do
  local field, text = unpack(each)
  if redis.call('HGET', firsts, field) == text then forgotten = forgotten + redis.call('HDEL', firsts, field) end
end
return { 'forgotten', forgotten }
