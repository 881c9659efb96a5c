-- Ends a sync for the guard: removes approvals of applied changes, and held changes that are no longer desired; one portion.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { target, targets: [target], ref, entries: ['kind subject'] (entries of guardItems that this sync did not want),
--        isGone (the resource is gone at the source and the platform) }
-- RETURN {"ended", number of removed entries}
-- NEEDS guard_items, pending_groups
local dropped = 0
for _, entry in ipairs(p.entries) do
  local kind, subject = string.match(entry, '^(%S+) (.*)$')
  -- A rejected removal stays rejected until the source adds the member again, or the group is gone.
  local group = string.match(p.ref, ':(.*)$')
  local stands = not p.isGone and kind == 'removeMembers'
    and redis.call('ZSCORE', key('guardRejected', p.target .. ':removeMembers'), p.ref .. ' ' .. subject)
    and redis.call('SISMEMBER', key('members', group), subject) == 0
  if stands then
    -- This sync did not read the rejection. As a pending membership the next sync reads and reports it.
    if not redis.call('HGET', key('pendingMembers', p.target .. ':' .. group), subject) then set_pending(group, subject, 'r') end
  else
    drop_item(p.target, p.ref, kind, subject)
    dropped = dropped + 1
  end
end
guard_close(p.target)
return { 'ended', dropped }
