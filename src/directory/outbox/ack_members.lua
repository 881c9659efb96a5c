-- Clears pending memberships of a group (lua/pending_groups.lua) that the platform has confirmed, unless the source reversed
-- them meanwhile. A removal that an operator rejected, alone or with the account, or of a protected user, is kept
-- (KEPT_REMOVAL), so that each sync judges it. Users and groups that wait for them become due.
-- KEYS key base. lua/keys.lua explains these header lines, `p` (the arguments), `key`, `clock` and unexplained arguments
-- ARGV { target, ref (of the group), group (its id), fence, leaseMs, sign: '+' added or '-' removed, users (their ids),
--        ending (absent: written and shown), request, targets: [target], log (as append_log.lua) }
--      ending 'kept': removals that are not written become kept ones (lua/signs.lua)
--      ending 'unseen': written, but the answer does not show it. Removals become unconfirmed ones, for which the next reconcile
--      reads the members; after additions it does so if the platform tells times of change
--      ending 'left': the policy leaves these changes out. Additions that were never sent stay in `unsentMembers`, and the next
--      reconcile reads the members if the platform tells times of change
--      ending 'moot': there is nothing to remove, so removals end with the guard's decisions about them
-- RETURN {"cleared", number of pending memberships} | {"fenced"}: the lease was lost
-- NEEDS log, pending_groups
-- The log is written before the fence is checked: the platform has these memberships even after a lost lease.
write_log(p.target, p.log)
local lease = key('lease', p.target .. ':' .. p.ref)
if redis.call('GET', lease) ~= p.fence then return { 'fenced' } end
redis.call('PEXPIRE', lease, p.leaseMs)
redis.call('ZADD', key('inflight', p.target), clock() + p.leaseMs, p.ref)
local pending_members = key('pendingMembers', p.target .. ':' .. p.group)
local is_removal = p.sign == TO_REMOVE
-- The sign that replaces the one of a removal; nil or false: the pending membership is removed.
local new_sign = is_removal and ({ kept = KEPT_REMOVAL, unseen = UNCONFIRMED_REMOVAL })[p.ending]
if p.ending == 'unseen' or p.ending == 'left' then redis.call('HDEL', key('groupsSeen', p.target), p.ref) end
local ended_families = p.ending == 'left' and { 'takenOutMembers' } or { 'unsentMembers', 'takenOutMembers' }
for _, family in ipairs(p.sign == TO_ADD and ended_families or {}) do
  call_with('SREM', key(family, p.target .. ':' .. p.group), p.users)
end
local cleared = 0
for _, user in ipairs(p.users) do
  local sign = redis.call('HGET', pending_members, user)
  -- A kept or an unconfirmed removal ends too, because the platform has no such member any more; not if this call keeps the
  -- removals.
  local is_kept_or_unconfirmed = sign == KEPT_REMOVAL or sign == UNCONFIRMED_REMOVAL
  local ends_too = is_kept_or_unconfirmed and is_removal and p.ending ~= 'kept'
  if sign == p.sign or ends_too then
    cleared = cleared + 1
    if p.ending == 'moot' then
      end_decided_removal(p.target, p.group, user)
    else
      if new_sign then
        set_pending(p.group, user, new_sign)
      else
        redis.call('HDEL', pending_members, user)
        redis.call('HDEL', key('pendingGroups', p.target .. ':' .. user), p.group)
      end
      if is_removal then end_removal(p.target, p.group, user) else requeue(p.target, 'User:' .. user, EDIT) end
    end
  end
end
return { 'cleared', cleared }
