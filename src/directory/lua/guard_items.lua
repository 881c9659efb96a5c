-- Ends held, approved and rejected changes. `subject`: the removed member or the cleared attribute, else ''.
-- NEEDS exceptions

-- Closes the open approval of a target when no change is held. The kinds are those of guard/judge.ts.
local function guard_close(target)
  for _, kind in ipairs({ 'deactivate', 'delete', 'removeMembers', 'clearAttributes' }) do
    if redis.call('EXISTS', key('guardHeld', target .. ':' .. kind)) == 1 then return end
  end
  redis.call('DEL', key('guardApproval', target))
end

-- Removes a change from the lists of its kind. Returns how often each list had it: { guardHeld, guardApproved, guardRejected }.
local function drop_item(target, ref, kind, subject)
  local text, removed = subject == '' and ref or ref .. ' ' .. subject, {}
  for _, family in ipairs({ 'guardHeld', 'guardApproved', 'guardRejected' }) do
    removed[family] = redis.call('ZREM', key(family, target .. ':' .. kind), text)
  end
  redis.call('SREM', key('guardItems', target .. ':' .. ref), kind .. ' ' .. subject)
  return removed
end

-- Ends a change that the current push takes back. No sync may see the push before the source makes the change again, and
-- that one needs a decision of its own. Returns whether there was such a change.
local function take_back(target, ref, kind, subject)
  local items = key('guardItems', target .. ':' .. ref)
  if redis.call('SISMEMBER', items, kind .. ' ' .. subject) == 0 then return false end
  drop_item(target, ref, kind, subject)
  local reason = redis.call('HGET', key('exceptionReasons', target), ref)
  local is_decidable = reason == 'Held' or reason == 'Rejected' or reason == 'LastAdministrator'
  if is_decidable and redis.call('EXISTS', items) == 0 then set_exception(target, ref, nil) end
  guard_close(target)
  return true
end
