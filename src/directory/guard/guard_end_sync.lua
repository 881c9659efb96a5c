-- Ends a sync for the guard: removes one portion of the held, approved and rejected changes of its resource that the sync did not
-- want. They are written or no longer desired.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, targets: [target], ref, fence, entries: ['kind subject'] (of lua/guard_items.lua; this sync did not want them),
--        isGone (the resource is gone at the source and the platform) }
-- RETURN {"ended", number of removed entries} | {"fenced"}: the lease was lost, and nothing was removed: the sync that has the lease
--        now may have held these changes
-- NEEDS keys (key, p), guard_items (drop_item, guard_close), pending_groups (set_pending)
-- NEEDS signs (KEPT_REMOVAL, UNCONFIRMED_REMOVAL)
if redis.call('GET', key('lease', p.target .. ':' .. p.ref)) ~= p.fence then return { 'fenced' } end
local dropped = 0
for _, entry in ipairs(p.entries) do
  local kind, subject = string.match(entry, '^(%S+) (.*)$')
  -- A rejected removal stays rejected until the source adds the member again, or the group is gone.
  local group = string.match(p.ref, ':(.*)$')
  local is_rejected_still = not p.isGone and kind == 'removeMembers'
    and redis.call('ZSCORE', key('guardRejected', p.target .. ':removeMembers'), p.ref .. ' ' .. subject)
    and redis.call('SISMEMBER', key('members', group), subject) == 0
  if is_rejected_still then
    -- The rejection came during this sync. The next sync reads and reports the removal as a kept one (lua/signs.lua).
    local sign = redis.call('HGET', key('pendingMembers', p.target .. ':' .. group), subject)
    if not sign or sign == UNCONFIRMED_REMOVAL then set_pending(group, subject, KEPT_REMOVAL) end
  else
    drop_item(p.target, p.ref, kind, subject)
    dropped = dropped + 1
  end
end
-- Closes the approval if no change is held any more (lua/guard_items.lua).
guard_close(p.target)
return { 'ended', dropped }
