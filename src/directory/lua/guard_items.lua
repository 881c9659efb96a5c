-- Ends held, approved and rejected changes. A change has a kind, the ref of its resource, and a subject: the removed member or
-- the cleared attribute, '' for other kinds. `guardHeld`, `guardApproved` and `guardRejected` have 'ref' or 'ref subject' for
-- each kind; `guardItems` has 'kind subject' for each ref.
-- NEEDS keys (key), exceptions (set_exception)

-- Closes the open approval of a target when no change is held. The kinds are those of guard/judge.ts.
local function guard_close(target)
  for _, kind in ipairs({ 'deactivate', 'delete', 'removeMembers', 'clearAttributes' }) do
    if redis.call('EXISTS', key('guardHeld', target .. ':' .. kind)) == 1 then return end
  end
  redis.call('DEL', key('guardApproval', target))
end

-- Removes a change from the lists of its kind. Returns how often each list had it: { guardHeld, guardApproved, guardRejected }.
local function drop_item(target, ref, kind, subject)
  local item, removed = subject == '' and ref or ref .. ' ' .. subject, {}
  for _, family in ipairs({ 'guardHeld', 'guardApproved', 'guardRejected' }) do
    removed[family] = redis.call('ZREM', key(family, target .. ':' .. kind), item)
  end
  redis.call('SREM', key('guardItems', target .. ':' .. ref), kind .. ' ' .. subject)
  return removed
end

-- Ends a change that the current push takes back: the source wants the account or the member again. The next sync would be too
-- late: if the source makes the change again before that sync, a new decision is needed. A cleared attribute and the deactivation
-- of a user out of scope end with the next sync, which runs the mapping and the scope. Returns whether there was such a change.
local function take_back(target, ref, kind, subject)
  local items = key('guardItems', target .. ':' .. ref)
  if redis.call('SISMEMBER', items, kind .. ' ' .. subject) == 0 then return false end
  drop_item(target, ref, kind, subject)
  local reason = redis.call('HGET', key('exceptionReasons', target), ref)
  -- These reasons say that a change of the resource waits for a decision or was rejected.
  local is_of_guard = reason == 'Held' or reason == 'Rejected' or reason == 'LastAdministrator'
  local was_last_change = redis.call('EXISTS', items) == 0
  if is_of_guard and was_last_change then set_exception(target, ref, nil) end
  guard_close(target)
  return true
end
