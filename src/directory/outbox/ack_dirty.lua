-- Ends a sync: stores the link, releases the lease, and clears the mark if its generation is unchanged, which means that the
-- resource did not change during the sync.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, targets: [target], ref, kind, id, fence, request, priority (of the sync), generation, outcome, delayMs,
--        behindHeld, isRefused, holder, awaitsMark, mayBeFree, forget, dropGrants, decided, coalesceMs, alarm, exception,
--        exceptionSince, suspectedDrift, platformKey, formerId, rulesReadGroups (lua/basis.lua), log (as append_log.lua) },
--        then the text of the link (link.ts)
--      generation: of the mark that the sync began with
--      outcome: synced | held (by the guard) | blocked (a dead letter) | later (the sync goes on after delayMs)
--      behindHeld: only with `later`. Absent: the resource waits for no held change of another resource. Ids of groups: it waits
--        for their held or refused removals of this user. Empty: it waits for another held change
--      isRefused: with behindHeld; syncs of these groups were refused, and no removal is held
--      holder: the resource whose name or account this one, its heir, waits for
--      awaitsMark: with holder; the wait ends when the mark of the holder is cleared
--      mayBeFree: the name or account may be free, because the outcome is synced or held, or this sync wrote the name or closed
--        the account
--      forget: the link is removed; the platform id that it had
--      dropGrants: pending additions of this user to groups end
--      decided: this sync has settled what groups wait for before they remove the user: the deactivation was written, held or
--        rejected, or is no longer desired. The removals from these groups become due
--      coalesceMs: with decided, the time for which such a group collects leavers before its sync
--      alarm: time of the next sync without a change
--      exception: its reason; absent: none. exceptionSince: time of its condition
--      suspectedDrift: as the sync read it
--      platformKey: kind:platform id of the link. formerId: earlier platform id
-- RETURN {"cleared", milliseconds since the oldest change was accepted} | {"kept"}: the sync goes on later | {"changed"}: the
--        resource was marked again | {"fenced"}: the lease was lost, and nothing was stored but the log
-- STEPS  1. Write the log, also after a lost lease: the platform has the writes. End if the lease was lost.
--        2. End lease and delivery; store the link and the exception.
--        3. Mark groups that wait for the decision about the account, and wake heirs of the name or account.
--        4. Set or end the alarm.
--        5. If the resource was marked during the sync: make it due again.
--        6. If the sync goes on later: keep the mark with that due time.
--        7. Else remove the mark, and note a dead letter or a synced resource. `note_cleared` counts the marks that are left.
-- NEEDS keys (BEHIND_HELD, BEHIND_REFUSED, clock, key, p, SPAN, texts), acked_link (store_link), exceptions (set_exception)
-- NEEDS heirs (MAY_BE_FREE, note_heir, wake_heirs), link_states (settled_state), links (clear_suspected_drift), load (note_cleared)
-- NEEDS log (write_log), marks (dirty_score, enqueue, make_due), signs (TO_REMOVE), synced (name_synced)
-- NEEDS user_memberships (drop_grants, mark_deleted_groups, mark_removals)

-- Returns whether the resource still waits for a held change of another one, or for groups whose syncs were refused. If an awaited
-- removal ended during this sync, nothing would end the wait any more, so false is returned: the mark is due again with its own
-- priority.
local function is_behind_held()
  for _, group in ipairs(p.behindHeld or {}) do
    if redis.call('HGET', key('pendingGroups', p.target .. ':' .. p.id), group) ~= TO_REMOVE then return false end
  end
  return p.behindHeld ~= nil
end

local link_text = texts[1]
write_log(p.target, p.log)
local lease = key('lease', p.target .. ':' .. p.ref)
local has_lease = redis.call('GET', lease) == p.fence
if not has_lease then return { 'fenced' } end
local now = clock()
redis.call('DEL', lease)
redis.call('ZREM', key('inflight', p.target), p.ref)
redis.call('HDEL', key('deliveries', p.target), p.ref)
clear_suspected_drift(p.target, p.ref, p.suspectedDrift)
store_link(link_text)
-- A sync that continues later has not asked the guard yet, so the exception stays as it is. The end of a protection does not
-- depend on the guard. If the resource changed during this sync, its next sync asks the guard and sets the exception again.
local was_protected = redis.call('HGET', key('exceptionReasons', p.target), p.ref) == 'Protected'
local has_asked_guard = p.outcome ~= 'later'
if has_asked_guard or was_protected then set_exception(p.target, p.ref, p.exception, p.exceptionSince) end
if p.dropGrants then drop_grants(p.target, p.id) end
if p.decided then mark_removals(p.target, p.id, now + p.coalesceMs) end
if p.forget and p.kind == 'User' then mark_deleted_groups(p.target, p.id) end
if p.holder then note_heir(p.target, p.holder, p.ref) end
if p.mayBeFree then wake_heirs(p.target, p.ref, MAY_BE_FREE) end
local has_guard_items = redis.call('EXISTS', key('guardItems', p.target .. ':' .. p.ref)) == 1
if p.alarm then
  redis.call('ZADD', key('alarms', p.target), p.alarm, p.ref)
elseif p.outcome == 'synced' and not has_guard_items then
  redis.call('ZREM', key('alarms', p.target), p.ref) -- the alarm of a held change that was decided
end

local marks, dirty = key('marks', p.target), key('dirty', p.target)
local mark_text = redis.call('HGET', marks, p.ref)
local generation, since = string.match(mark_text or '', '^(%d+) (%d+)')
-- If the resource was marked during the sync, its dirty score (if any) has the due time of that mark: now for a change of the
-- source, later for a group that collects its members. A sync that continues later has a due time too. make_due keeps the
-- earlier one of both times.
local was_marked_again = generation ~= p.generation
if was_marked_again then
  local score, due = dirty_score(p.target, p.ref), now
  if score and p.outcome == 'synced' then due = score % SPAN end
  if score and p.outcome == 'later' then due = now + p.delayMs end
  make_due(p.target, p.ref, p.priority, due)
  return { 'changed' }
end
if p.outcome == 'later' then
  if is_behind_held() then
    redis.call('ZREM', key('accepted', p.target), p.ref)
    enqueue(p.target, p.ref, (p.isRefused and BEHIND_REFUSED or BEHIND_HELD) * SPAN + now + p.delayMs)
  else
    -- The holder has the name that this resource waits for. If the holder's sync ended during this one, it woke those who wait
    -- before this resource was among them. Nothing else would wake it at once, so it is due now.
    local has_ended = p.awaitsMark and redis.call('HEXISTS', key('marks', p.target), p.holder) == 0
    make_due(p.target, p.ref, p.priority, has_ended and now or now + p.delayMs)
  end
  return { 'kept' }
end
redis.call('HDEL', marks, p.ref)
note_cleared(p.target, p.ref)
redis.call('ZREM', dirty, p.ref)
redis.call('ZREM', key('accepted', p.target), p.ref)
if p.kind == 'User' then redis.call('SREM', key('guardWaiting', p.target), p.ref) end
if p.outcome == 'blocked' then
  wake_heirs(p.target, p.ref) -- not MAY_BE_FREE: dead letters among them stay
  -- A retry that is refused for the same reason keeps the time of the first refusal.
  redis.call('ZADD', key('blocked', p.target), string.format('%d', p.exceptionSince or now), p.ref)
end
if p.outcome == 'synced' then
  local stored = redis.call('HGET', key(p.kind == 'User' and 'users' or 'groups'), p.id)
  local has_pending = p.kind == 'Group' and redis.call('EXISTS', key('pendingMembers', p.target .. ':' .. p.id)) == 1
  local is_written = stored and not p.forget and not has_pending
  -- A brief scan skips resources in the `synced` set (lua/synced.lua). settled_state returns nil for a synced resource.
  if is_written and not settled_state(p.target, p.kind, p.id, stored, link_text, p.rulesReadGroups) then
    redis.call('SADD', name_synced(p.target, p.kind), p.id)
  end
end
return { 'cleared', now - tonumber(since) }
