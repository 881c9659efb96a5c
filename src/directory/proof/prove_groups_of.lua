-- Proves one portion of `groupsOf` by the member sets of the groups. If the groups of a user include a group without a member set,
-- this set was lost, because the script that removes the last member also removes the group from the user. Such a set is restored
-- from `groupsOf`. `rebuilding` holds these groups until the last portion of a repair, so that a repair that was killed can be
-- continued by the next one.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { targets, cursor, count, repair }
-- RETURN {"proved", next cursor, entries checked, [faults: prove_records.lua]}. lua/proof.lua: `fault` notes one, `proved` replies
-- NEEDS keys (key, p), member_sum (keep_member_sum), proof (fault, proved), signs (TO_ADD)
-- Time after which `rebuilding` expires, if no repair ends it.
local REBUILD_MS = 24 * 60 * 60 * 1000
local next_cursor, found_groups = unpack(redis.call('HSCAN', key('groupsOf'), p.cursor, 'COUNT', p.count))

-- Returns whether a removal of the member is stored, which means that the membership has ended.
local function has_removal(user, group)
  for _, target in ipairs(p.targets) do
    local sign = redis.call('HGET', key('pendingGroups', target .. ':' .. user), group)
    if sign and sign ~= TO_ADD then return true end
  end
  return false
end

-- Returns whether the member set of a stored group is lost, or is being restored by this repair.
local function has_lost_its_set(group)
  if redis.call('HEXISTS', key('groups'), group) == 0 then return false end
  return redis.call('EXISTS', key('members', group)) == 0 or redis.call('SISMEMBER', key('rebuilding'), group) == 1
end

-- Proves the groups of one user, ids joined by commas.
local function prove(user, groups)
  local is_known, right_groups, seen = redis.call('HEXISTS', key('users'), user) == 1, {}, {}
  local surplus
  for group in string.gmatch(groups, '[^,]+') do
    local membership = 'User:' .. user .. ' in Group:' .. group
    local is_new = not seen[group]
    local is_member = is_new and redis.call('SISMEMBER', key('members', group), user) == 1
    local may_be_restored = is_new and not is_member and is_known
    if may_be_restored and has_lost_its_set(group) and not has_removal(user, group) then
      fault('members', 'missing', membership, function()
        redis.call('SADD', key('rebuilding'), group)
        redis.call('PEXPIRE', key('rebuilding'), REBUILD_MS)
        redis.call('SADD', key('members', group), user)
        keep_member_sum(group, 1)
      end)
      is_member = true
    end
    if is_member then right_groups[#right_groups + 1] = group else surplus = membership end
    seen[group] = true
  end
  local is_right = not surplus and #right_groups > 0
  if is_right then return end
  fault('groupsOf', 'surplus', surplus or 'User:' .. user, function()
    if #right_groups == 0 then return redis.call('HDEL', key('groupsOf'), user) end
    redis.call('HSET', key('groupsOf'), user, table.concat(right_groups, ','))
  end)
end

for index = 1, #found_groups, 2 do prove(found_groups[index], found_groups[index + 1]) end
local is_last_portion = next_cursor == '0'
if p.repair and is_last_portion then redis.call('DEL', key('rebuilding')) end
return proved(next_cursor, #found_groups / 2)
