-- Proves `memberCount`, the number of all memberships, by which the guard limits removals of members. It is compared with the sum
-- of all member sets (lua/member_sum.lua): step `begin` starts the sum, prove_members.lua adds each member set to it, and step
-- `end` compares. If another proof has restarted the sum, step `end` does nothing. A repair of a wrong count first marks the
-- resources with held removals of members, a portion in each call, because the wrong count may be why they are held.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { targets, step: begin | end, run (id of this proof), cursor ('0': from the start; else the next cursor of the last
--        reply, while a repair marks resources), repair (whether faults are repaired), request }
-- RETURN {"proved", next cursor, 1 (the count is one entry), [the fault, as in prove_records.lua]}
-- NEEDS keys (clock, EDIT, key, p), marks (mark_at), proof (fault, proved)
local name = key('memberSum')
-- Time after which the sum of a killed proof expires.
local ABANDONED_MS = 6 * 60 * 60 * 1000
-- Held removals that one call reads.
local PORTION = 500

-- Expires the approval of a target, because removals of members may be held by the wrong count, and marks one portion of them, so
-- that the guard judges them again (guard_take.lua). Held changes of other kinds are judged again at their next sync, at the
-- latest at the former expiry. `from`: cursor '<number of the target>-<last place>'. Returns the next cursor; '0' at
-- the end.
local function judge_removals_anew(from)
  local index, place = string.match(from, '^(%d+)-(%d+)$')
  index, place = tonumber(index or 1), place or '0'
  local target, now, seen = p.targets[index], clock(), {}
  local held = {}
  -- The approval exists as long as a change is held. An operator cannot decide about an expired one.
  if redis.call('EXISTS', key('guardApproval', target)) == 1 then
    redis.call('HSET', key('guardApproval', target), 'expires', string.format('%d', now))
    -- [item, place, item, place, ...]; an item is 'ref user' (lua/guard_items.lua).
    held = redis.call('ZRANGEBYSCORE', key('guardHeld', target .. ':removeMembers'), '(' .. place, '+inf',
      'WITHSCORES', 'LIMIT', 0, PORTION)
  end
  for at = 1, #held, 2 do
    local ref = string.match(held[at], '^%S+')
    if not seen[ref] then mark_at(target, ref, EDIT, now) end
    seen[ref] = true
  end
  local may_have_more = #held == 2 * PORTION
  if may_have_more then return index .. '-' .. held[#held] end
  return p.targets[index + 1] and index + 1 .. '-0' or '0'
end

if p.step == 'begin' then
  redis.call('DEL', name)
  redis.call('HSET', name, '#run', p.run, '#sum', 0)
  redis.call('PEXPIRE', name, ABANDONED_MS)
elseif redis.call('HGET', name, '#run') == p.run then
  local sum, count = redis.call('HGET', name, '#sum'), redis.call('GET', key('memberCount'))
  local is_wrong = (count or '0') ~= sum
  local next_cursor = is_wrong and p.repair and judge_removals_anew(p.cursor) or '0'
  -- The count is corrected last: after a failure in between, the next run finds it wrong and repeats these steps.
  if next_cursor ~= '0' then return proved(next_cursor, 1) end
  redis.call('DEL', name)
  if is_wrong then
    fault('memberCount', 'wrong', tostring(count) .. ' instead of ' .. sum, function()
      redis.call('SET', key('memberCount'), sum)
    end)
  end
end
return proved('0', 1)
