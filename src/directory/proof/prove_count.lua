-- Proves `memberCount` by the sum of all member sets (lua/member_sum.lua). Between begin and end the scan of the member sets
-- adds each of them. A sum that another run has restarted is ignored.
-- KEYS base
-- ARGV { targets, step: begin | end, run: id of this run, repair, request }
-- RETURN as prove_records.lua
-- NEEDS marks, proof
local name = key('memberSum')
local ABANDONED_MS = 6 * 60 * 60 * 1000

-- Expires the approval of removals that were held because of the wrong count, so that the guard judges them again
-- (guard_take.lua).
local function judge_removals_anew(target)
  local now, seen = clock(), {}
  if redis.call('EXISTS', key('guardApproval', target)) == 0 then return end
  redis.call('HSET', key('guardApproval', target), 'expires', string.format('%d', now))
  for _, text in ipairs(redis.call('ZRANGE', key('guardHeld', target .. ':removeMembers'), 0, -1)) do
    local ref = string.match(text, '^%S+')
    if not seen[ref] then mark_at(target, ref, 1, now) end
    seen[ref] = true
  end
end

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
      for _, target in ipairs(p.targets) do judge_removals_anew(target) end
    end)
  end
end
return proved('0', 1)
