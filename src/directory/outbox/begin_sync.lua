-- Takes the lease of one ref and reads all data that its sync needs.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, ref, kind, id, leaseMs, priority (of the job), rulesReadGroups (lua/basis.lua),
--        address (of the platform, lua/stopped.lua) }
-- RETURN {"clean"}: no mark | {"busy"}: stopped, or another sync is running; the ref becomes due again |
--        {"begun", fence, generation, since, request, record, link, groups, pendingGroups, hasGuardItem, tombstone,
--        suspectedDrift, basis, observedDrift}
--        generation, since, request: of the mark (lua/mark_texts.lua); record: as stored (lua/heads.lua), '' if deleted;
--        link: its text (link.ts), or ''; groups: [id, displayName, ...] of a user;
--        pendingGroups: [group, sign, ...] of a user (lua/signs.lua);
--        hasGuardItem: 1 if the guard holds, approved or rejected a change of this ref, else 0;
--        tombstone: JSON, of a deleted resource, or ''; suspectedDrift, observedDrift: as apply_drift.lua wrote them, or '';
--        basis: of the record as it is now (lua/basis.lua)
-- STEPS  1. End without a mark; while the target is stopped, or another sync holds the lease: make the ref due again, and end.
--        2. Take the lease, and note the delivery as running.
--        3. Read what the sync needs, in the same script: a later change gives the mark another generation, so the end of this
--           sync does not clear its mark.
-- NEEDS keys (clock, key, p), basis (basis_of), groups (groups_of), marks (make_due, RUNNING), numbers (next_number)
-- NEEDS stopped (is_stopped)
-- `inflight`: refs that were delivered to the queue, by the time at which their job or worker counts as lost; `deliveries`:
-- their jobs; RUNNING, '- ', stands in place of the delivery id while a job runs (lua/marks.lua).
local inflight, deliveries = key('inflight', p.target), key('deliveries', p.target)
local mark_text = redis.call('HGET', key('marks', p.target), p.ref)
if not mark_text then
  redis.call('ZREM', inflight, p.ref)
  redis.call('HDEL', deliveries, p.ref)
  return { 'clean' }
end
if is_stopped(p.target, p.address) then
  redis.call('ZREM', inflight, p.ref)
  redis.call('HDEL', deliveries, p.ref)
  make_due(p.target, p.ref, p.priority, clock())
  return { 'busy' }
end
local lease = key('lease', p.target .. ':' .. p.ref)
if redis.call('EXISTS', lease) == 1 then
  -- Another sync of this ref is running: its entry in `deliveries` gets the higher of both priorities (the lower number).
  local running = tonumber(string.match(redis.call('HGET', deliveries, p.ref) or '', ' (%d+)$')) or p.priority
  redis.call('HSET', deliveries, p.ref, RUNNING .. math.min(running, p.priority))
  make_due(p.target, p.ref, p.priority, clock())
  return { 'busy' }
end

local fence = next_number()
redis.call('SET', lease, fence, 'PX', p.leaseMs)
redis.call('ZADD', inflight, clock() + p.leaseMs, p.ref)
redis.call('HSET', deliveries, p.ref, RUNNING .. p.priority)
local groups, pending_groups = {}, {}
if p.kind == 'User' then
  for _, group in ipairs(groups_of(p.id)) do
    groups[#groups + 1] = group
    groups[#groups + 1] = redis.call('HGET', key('groupNames'), group) or ''
  end
  pending_groups = redis.call('HGETALL', key('pendingGroups', p.target .. ':' .. p.id))
end
local generation, since, request = string.match(mark_text, '^(%d+) (%d+) (.*)$')
local record = redis.call('HGET', key(p.kind == 'User' and 'users' or 'groups'), p.id)
return {
  'begun', fence, generation, since, request,
  record or '',
  redis.call('HGET', key('links', p.target), p.ref) or '',
  groups, pending_groups,
  redis.call('EXISTS', key('guardItems', p.target .. ':' .. p.ref)),
  not record and redis.call('HGET', key('tombstones'), p.id) or '',
  redis.call('HGET', key('suspectedDrift', p.target), p.ref) or '',
  basis_of(p.kind, p.id, record, p.rulesReadGroups),
  redis.call('HGET', key('observedDrift', p.target), p.ref) or '',
}
