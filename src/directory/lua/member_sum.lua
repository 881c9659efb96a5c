-- The number of all memberships: `memberCount`, and `memberSum`, by which a proof checks it while pushes go on. The proof adds
-- the members of one group after the other. Here every change of a group that is added already changes the sum too, and a
-- group that is new to the sum is added as a whole. So after the last group the sum is right at that moment.
local function keep_member_sum(group, by)
  local sum = key('memberSum')
  if redis.call('EXISTS', sum) == 0 then return end
  local is_new = redis.call('HSETNX', sum, group, '') == 1
  redis.call('HINCRBY', sum, '#sum', is_new and redis.call('SCARD', key('members', group)) or by)
end

-- Updates the counts after `by` members were added to a group (negative: removed).
local function count_members(group, by)
  redis.call('INCRBY', key('memberCount'), by)
  keep_member_sum(group, by)
end
