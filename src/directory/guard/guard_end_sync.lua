-- Ends a sync for the guard: removes approvals of applied changes, and held changes that are no longer desired; one portion.
-- KEYS base
-- ARGV { target, targets: [target], ref, kinds, entries: ['kind subject'] (entries of guardItems that this sync did not
-- want),
--        isGone (the resource is gone at the source and the platform) }
-- RETURN {"ended", number of removed entries}
-- NEEDS guard, pending_groups
local held = key('guardItems', p.target .. ':' .. p.ref)
local function sets(family, kind) return key(family, p.target .. ':' .. kind) end
local function name(subject) return subject == '' and p.ref or p.ref .. ' ' .. subject end

local function drop(kind, subject)
  for _, family in ipairs({ 'guardHeld', 'guardApproved', 'guardRejected' }) do
    redis.call('ZREM', sets(family, kind), name(subject))
  end
  redis.call('SREM', held, kind .. ' ' .. subject)
end

local dropped = 0
for _, entry in ipairs(p.entries) do
  local kind, subject = string.match(entry, '^(%S+) (.*)$')
  -- A rejected removal stays rejected until the source adds the member again, or the group is gone.
  local group = string.match(p.ref, ':(.*)$')
  local stands = not p.isGone and kind == 'removeMembers' and redis.call('ZSCORE', sets('guardRejected', kind), name(subject))
    and redis.call('SISMEMBER', key('members', group), subject) == 0
  if stands then
    -- This sync did not read the rejection. As a pending membership the next sync reads and reports it.
    if not redis.call('HGET', key('pendingMembers', p.target .. ':' .. group), subject) then set_pending(group, subject, 'r') end
  else
    drop(kind, subject)
    dropped = dropped + 1
  end
end
guard_close(p.kinds)
return { 'ended', dropped }
