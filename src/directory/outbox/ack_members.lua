-- Clears pending memberships of a group (lua/pending_groups.lua) that were written or are given up, unless the source reversed
-- them. A removal that an operator rejected, alone or with the account, or of a protected user, is kept (KEPT_REMOVAL), so that
-- each sync judges it. Users and groups that wait for these become due.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, ref (of the group), group (its id), fence, leaseMs, sign: '+' added or '-' removed, users (their ids), ending,
--        request, targets: [target], log (as append_log.lua) }
--      ending: how the changes ended, and what becomes of them
--        absent    both        written and shown by the platform, or given up: cleared
--        'kept'    removals    not written: become kept ones (lua/signs.lua)
--        'unseen'  removals    written, and the answer does not show it: become unconfirmed ones
--                  additions   the same: cleared
--        'sought'  removals    the account of the user is still to be found: become unconfirmed ones. They stay pending if it was
--                              found since the caller looked, or a sync of the user is to come, which may find it
--        'left'    both        the policy leaves them out: cleared. Additions that were never sent stay in `unsentMembers`
--        'moot'    removals    there is nothing to remove: end with the guard's decisions about them
--      After 'unseen', 'sought' and 'left' the next reconcile reads the members: for unconfirmed removals always, else if the
--      platform tells times of change
-- RETURN {"cleared", number of pending memberships} | {"fenced"}: the lease was lost
-- STEPS  1. Write the log, also after a lost lease: the platform has the memberships. End if the lease was lost, else renew it.
--        2. Note whether the next reconcile reads the members, and which additions were sent.
--        3. For each user: clear or replace the sign, and then make due who waits for it: `end_removal` reads the signs that are
--           left.
-- NEEDS keys (clock, EDIT, key, p), log (write_log), marks (requeue)
-- NEEDS pending_groups (end_decided_removal, end_removal, set_pending)
-- NEEDS signs (KEPT_REMOVAL, TO_ADD, TO_REMOVE, UNCONFIRMED_REMOVAL), sought_account (is_account_sought), spread (call_with)
-- The new sign of a removal by `ending`; none: the pending membership is cleared.
local SIGN_AFTER = { kept = KEPT_REMOVAL, unseen = UNCONFIRMED_REMOVAL, sought = UNCONFIRMED_REMOVAL }
local READS_MEMBERS_NEXT = { unseen = true, sought = true, left = true }

-- Returns whether the removal stays pending, because the account of the user was found or may be found by a sync to come. Judged in
-- this script, because a sync that links the account makes only unconfirmed removals pending again (lua/resume_unconfirmed.lua).
local function stays_pending(user)
  if p.ending ~= 'sought' then return false end
  local user_ref = 'User:' .. user
  return redis.call('HEXISTS', key('marks', p.target), user_ref) == 1 or not is_account_sought(p.target, user_ref)
end

write_log(p.target, p.log)
local lease = key('lease', p.target .. ':' .. p.ref)
if redis.call('GET', lease) ~= p.fence then return { 'fenced' } end
redis.call('PEXPIRE', lease, p.leaseMs)
redis.call('ZADD', key('inflight', p.target), clock() + p.leaseMs, p.ref)
local pending_members = key('pendingMembers', p.target .. ':' .. p.group)
local is_removal = p.sign == TO_REMOVE
local new_sign = is_removal and SIGN_AFTER[p.ending] or nil
if READS_MEMBERS_NEXT[p.ending] then redis.call('HDEL', key('groupsSeen', p.target), p.ref) end
if p.sign == TO_ADD then
  call_with('SREM', key('takenOutMembers', p.target .. ':' .. p.group), p.users)
  if p.ending ~= 'left' then call_with('SREM', key('unsentMembers', p.target .. ':' .. p.group), p.users) end
end
local cleared = 0
for _, user in ipairs(p.users) do
  local sign = redis.call('HGET', pending_members, user)
  -- A kept or an unconfirmed removal ends too, because the platform has no such member any more; not if this call keeps the
  -- removals.
  local is_kept_or_unconfirmed = sign == KEPT_REMOVAL or sign == UNCONFIRMED_REMOVAL
  local ends_too = is_kept_or_unconfirmed and is_removal and p.ending ~= 'kept'
  if (sign == p.sign or ends_too) and not stays_pending(user) then
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
