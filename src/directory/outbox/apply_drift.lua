-- Stores differences that a comparison with the platform has found (suspected drift), and marks their refs, so that a sync
-- repairs them. A ref is skipped if its record or link changed since the difference was seen. `suspectedDrift` has the names of
-- the values that differ, as a JSON list; `observedDrift` these names with the values of the platform, for the log.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, targets: [target], request, run, fence (of the reconcile run; absent: no run), drifts: [{ ref, kind, id,
--        version (0: no record), link (SHA-1 of its text), names, observed (values of the names at the platform, as JSON text),
--        add: [user], takenOut: [user of `add` whom somebody took out at the platform] (absent: none),
--        remove: [user, or @ and the platform id of an unmanaged member],
--        done: [as remove] (members that the platform does not have any more, so their pending removal ends; absent: none),
--        priority }] }
-- RETURN {"noted", for each drift applied, stale (record or link changed) or busy (a sync is running)} | {"fenced"}: another
--        reconcile run has begun
-- STEPS  of each drift (`note`): skip a changed or syncing ref; store the names; make additions and removals pending, and end the
--        removals that are done; mark the ref. At the end close the approval if none of its changes is left.
-- NEEDS keys (key, p), guard_items (guard_close), marks (mark, requeue)
-- NEEDS pending_groups (end_decided_removal, set_pending, set_removal), signs (is_unmanaged, TO_ADD, TO_REMOVE)
if p.fence and redis.call('GET', key('run', p.target)) ~= p.fence then return { 'fenced' } end

-- Returns the version of the stored record, its first word; 0: there is none.
local function version_of(drift)
  local stored = redis.call('HGET', key(drift.kind == 'User' and 'users' or 'groups'), drift.id)
  return stored and tonumber(string.match(stored, '^%d+')) or 0
end

-- Adds names to the suspected drift of a ref.
local function suspect(ref, names)
  local known = redis.call('HGET', key('suspectedDrift', p.target), ref)
  local all, seen = {}, {}
  for _, list in ipairs({ known and cjson.decode(known) or {}, names }) do
    for _, name in ipairs(list) do
      if not seen[name] then all[#all + 1] = name end
      seen[name] = true
    end
  end
  redis.call('HSET', key('suspectedDrift', p.target), ref, cjson.encode(all))
end

-- Stores one drift and returns its outcome.
local function note(drift)
  local ref, link = drift.ref, redis.call('HGET', key('links', p.target), drift.ref) or ''
  local has_changed = version_of(drift) ~= drift.version or redis.sha1hex(link) ~= drift.link
  if has_changed then return 'stale' end
  if redis.call('EXISTS', key('lease', p.target .. ':' .. ref)) == 1 then return 'busy' end
  if #drift.names > 0 then
    suspect(ref, drift.names)
    redis.call('HSET', key('observedDrift', p.target), ref, drift.observed)
  end
  local is_taken_out = {}
  for _, user in ipairs(drift.takenOut or {}) do is_taken_out[user] = true end
  -- The source may have changed memberships since the comparison, because pushes do not wait for a comparison.
  for _, user in ipairs(drift.add) do
    local is_pending = redis.call('HGET', key('pendingMembers', p.target .. ':' .. drift.id), user) == TO_ADD
    local is_member = redis.call('SISMEMBER', key('members', drift.id), user) == 1
    if is_member and not is_pending then
      set_pending(drift.id, user, TO_ADD)
      if is_taken_out[user] then redis.call('SADD', key('takenOutMembers', p.target .. ':' .. drift.id), user) end
    end
  end
  for _, user in ipairs(drift.remove) do
    if is_unmanaged(user) then
      redis.call('HSET', key('pendingMembers', p.target .. ':' .. drift.id), user, TO_REMOVE)
    else
      set_removal(drift.id, user, TO_REMOVE)
    end
  end
  for _, user in ipairs(drift.done or {}) do end_decided_removal(p.target, drift.id, user) end
  -- A marked ref keeps its generation and only becomes due now.
  local is_marked = redis.call('HEXISTS', key('marks', p.target), ref) == 1
  if is_marked then requeue(p.target, ref, drift.priority) else mark(ref, drift.priority) end
  return 'applied'
end

local reply = { 'noted' }
for index, drift in ipairs(p.drifts) do reply[index + 1] = note(drift) end
-- Closes the approval if its last held change has ended (lua/guard_items.lua).
if redis.call('EXISTS', key('guardApproval', p.target)) == 1 then guard_close(p.target) end
return reply
