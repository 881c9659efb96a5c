-- Saves the link of a running sync before its next step, so that a killed sync loses nothing, and renews its lease.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, ref, kind, id, fence, leaseMs, request, targets: [target], platformId, formerId, takenFrom,
--        rewriteMemberships, isNew, surplus, requeueGroups, resumed, coalesceMs, suspectedDrift, platformKey,
--        log, linkLog (each as append_log.lua) }, then the text of the link (link.ts)
--      platformId: the new platform id, whose reverse link is stored
--      formerId: the platform id that the link had
--      takenFrom: the former resource that was linked to the platform id
--      rewriteMemberships: the account was created again at the platform, so all its memberships have to be written
--      isNew: the account was created just now, so it is in no group, and pending removals of the user end
--      surplus: users to remove from the group, except those whom the source has as members
--      requeueGroups: the user may gain memberships now, so groups with a pending addition of the user become due
--      resumed: groups whose removal of this user was skipped while the user was protected; each becomes pending again
--      coalesceMs: with requeueGroups, the time for which such a group collects users before its sync
--      suspectedDrift: the suspected drift that the sync has read; a note that was added since stays
--      platformKey: kind:platform id of the link; the fingerprint of the account under this key is removed
--      log: about writes that were sent; linkLog: about the link, written only if it is saved
-- RETURN {"saved"} | {"fenced"}: the lease was lost, and nothing was stored but the log | {"taken"}: the same, because another
--        resource was linked to platformId since the sync looked; the lease ends, so that nothing of this sync is stored later
-- STEPS  1. Write the log of writes, also after a lost lease. End if the lease was lost, or the platform id is taken.
--        2. Renew the lease.
--        3. Make unconfirmed removals pending again, before the new link is stored: `resume_unconfirmed` reads the old one.
--        4. Store the link. Remove the former links of the account and their reverse links, and then store the new reverse link.
--        5. Make memberships pending; for a new account, after the removals of the former one have ended.
--        6. Make groups due that may add the user, by the additions that are pending after step 5.
-- NEEDS keys (clock, EDIT, key, p, texts), forget_link (forget_link), groups (groups_of), guard_items (guard_close)
-- NEEDS inherit_handover (inherit_handover)
-- NEEDS links (clear_suspected_drift, forget_print, linked_id, ref_linked_to, unlink), log (write_log), marks (mark, mark_at)
-- NEEDS pending_groups (end_decided_removal, set_pending, set_removal), resume_unconfirmed (resume_unconfirmed)
-- NEEDS signs (KEPT_REMOVAL, TO_ADD, TO_REMOVE, UNCONFIRMED_REMOVAL)

-- A sync of a group reads all its pending members, so the more there are, the longer it collects: COLLECT_MS milliseconds for
-- each, at most COLLECT_LIMIT_MS. Without this a first load of a large group would cost the square of its size.
local COLLECT_MS, COLLECT_LIMIT_MS = 0.3, 60000

-- Moves the removals of a former user to the user who takes the account over, because the account may still be in these groups.
-- The guard judges the pending and rejected ones anew; an unconfirmed one stays so.
local function inherit_removals_of(former)
  for _, group in ipairs(redis.call('HKEYS', key('pendingGroups', p.target .. ':' .. former))) do
    local sign = end_decided_removal(p.target, group, former)
    if sign then
      set_removal(group, p.id, sign == UNCONFIRMED_REMOVAL and sign or TO_REMOVE)
      mark('Group:' .. group, EDIT)
    end
  end
end

-- Ends the removals of the user, with the guard's decisions about them, because these memberships ended with the former account.
-- The groups are marked, because their conditions may be about these removals.
local function end_removals_of_former_account()
  for _, group in ipairs(redis.call('HKEYS', key('pendingGroups', p.target .. ':' .. p.id))) do
    if end_decided_removal(p.target, group, p.id) then mark('Group:' .. group, EDIT) end
  end
  if redis.call('EXISTS', key('guardApproval', p.target)) == 1 then guard_close(p.target) end
end

-- Returns whether another resource is linked to the platform id. Two syncs that find the same unlinked account may both want it.
local function is_linked_to_other()
  local holder = ref_linked_to(p.target, p.kind .. ':' .. p.platformId)
  if not holder or holder == p.ref or holder == p.takenFrom then return false end
  return linked_id(p.target, holder) == p.platformId
end

local link_text = texts[1]
write_log(p.target, p.log)
local lease = key('lease', p.target .. ':' .. p.ref)
if redis.call('GET', lease) ~= p.fence then return { 'fenced' } end
if p.platformId and is_linked_to_other() then
  redis.call('DEL', lease)
  return { 'taken' }
end
write_log(p.target, p.linkLog)
redis.call('PEXPIRE', lease, p.leaseMs)
redis.call('ZADD', key('inflight', p.target), clock() + p.leaseMs, p.ref)
if p.platformId and p.kind == 'User' then resume_unconfirmed() end
redis.call('HSET', key('links', p.target), p.ref, link_text)
clear_suspected_drift(p.target, p.ref, p.suspectedDrift)
if p.formerId then unlink(p.target, p.kind .. ':' .. p.formerId, p.ref) end
if p.takenFrom then
  -- A former user who is linked to another account by now keeps its removals, because they concern that account.
  local is_taken = forget_link(p.target, p.takenFrom, p.platformId)
  if is_taken and p.kind == 'User' then
    inherit_removals_of(string.sub(p.takenFrom, #'User:' + 1))
    inherit_handover(p.target, p.takenFrom, p.ref)
  end
end
if p.platformId then
  redis.call('HSET', key('linked', p.target), p.kind .. ':' .. p.platformId, p.ref)
elseif p.platformKey then
  forget_print(p.target, p.platformKey, p.ref)
end

if p.rewriteMemberships then
  if p.isNew then end_removals_of_former_account() end
  -- 'new': the account cannot be in these groups yet (lua/pending_groups.lua).
  for _, group in ipairs(groups_of(p.id)) do set_pending(group, p.id, TO_ADD, p.isNew and 'new') end
end
for _, user in ipairs(p.surplus or {}) do set_removal(p.id, user, TO_REMOVE) end
for _, group in ipairs(p.resumed or {}) do
  if redis.call('HGET', key('pendingGroups', p.target .. ':' .. p.id), group) == KEPT_REMOVAL then
    set_pending(group, p.id, TO_REMOVE)
    mark_at(p.target, 'Group:' .. group, EDIT, clock())
  end
end
if p.requeueGroups then
  -- The group becomes due a little later, so that it adds many ready users in one PATCH.
  local now = clock()
  local pending_groups = key('pendingGroups', p.target .. ':' .. p.id)
  for _, group in ipairs(redis.call('HKEYS', pending_groups)) do
    if redis.call('HGET', pending_groups, group) == TO_ADD then
      local waiting = redis.call('HLEN', key('pendingMembers', p.target .. ':' .. group))
      local collect_ms = math.max(p.coalesceMs, math.min(COLLECT_LIMIT_MS, math.floor(waiting * COLLECT_MS)))
      -- Without another pending member there is nothing to collect.
      local due = waiting > 1 and now + collect_ms or now
      mark_at(p.target, 'Group:' .. group, EDIT, now, due)
    end
  end
end
return { 'saved' }
