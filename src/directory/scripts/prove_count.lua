-- Proves the number of all memberships.
-- KEYS base
-- ARGV { repair }
-- RETURN as prove_records.lua
-- NEEDS proof
local sum = 0
for _, group in ipairs(redis.call('HKEYS', key('groups'))) do sum = sum + redis.call('SCARD', key('members', group)) end
local held = redis.call('GET', key('memberCount'))
if (tonumber(held or '0') or -1) ~= sum then
  fault('memberCount', 'wrong', tostring(held) .. ' instead of ' .. sum, function()
    redis.call('SET', key('memberCount'), string.format('%d', sum))
  end)
end
return proved('0', 1)
