-- Proves `memberCount` by the sum of all member sets (shared/member_sum.lua). Between begin and end the walk through the member
-- sets adds each of them. A sum that another run has begun anew is that run's to judge.
-- KEYS base
-- ARGV { targets, step: begin | end, run: id of this run, repair }
-- RETURN as prove_records.lua
-- NEEDS guard, proof
local name = key('memberSum')
local ABANDONED_MS = 6 * 60 * 60 * 1000

if p.step == 'begin' then
  redis.call('DEL', name)
  redis.call('HSET', name, '#run', p.run, '#sum', 0)
  redis.call('PEXPIRE', name, ABANDONED_MS)
elseif redis.call('HGET', name, '#run') == p.run then
  local sum, held = redis.call('HGET', name, '#sum'), redis.call('GET', key('memberCount'))
  redis.call('DEL', name)
  if (held or '0') ~= sum then
    fault('memberCount', 'wrong', tostring(held) .. ' instead of ' .. sum, function()
      redis.call('SET', key('memberCount'), sum)
      -- The guard held removals by a share of the wrong number.
      for _, target in ipairs(p.targets) do judge_anew(target, 'removeMembers') end
    end)
  end
end
return proved('0', 1)
