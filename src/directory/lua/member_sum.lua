-- Keeps the number of all memberships (`memberCount`), and the sum by which a proof checks that number while pushes go on
-- (`memberSum`). The hash `memberSum` exists only during a proof: `#run` has the id of the proof, `#sum` the sum, and each group
-- that the sum contains has an empty field. The proof adds the members of one group after the other (prove_members.lua).
-- NEEDS keys (key)

-- Updates the sum after `by` members were added to a group (negative: removed). A group that the sum does not contain yet is
-- added as a whole. So the sum is right as soon as the last group is added.
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
