-- Holds destructive changes for approval.
-- NEEDS keys (clock, EDIT, key), exceptions (set_exception), marks (requeue), numbers (next_number)

-- Opens an approval. Returns its serial, and the time at which it expires (number). Changes that are held under it get places
-- (scores) above the serial.
local function open_approval(target, expiry_ms)
  local serial, opened, expires = next_number(), string.format('%d', clock()), clock() + expiry_ms
  redis.call('HSET', key('guardApproval', target), 'serial', serial, 'opened', opened, 'expires', string.format('%d', expires))
  return serial, expires
end

-- Holds one change under the open approval. `subject`: the removed member or cleared attribute, else ''. An alarm at the expiry has
-- the resource synced again, so that a change without a decision is judged again.
local function hold(target, kind, ref, subject, expires)
  local item = subject == '' and ref or ref .. ' ' .. subject
  redis.call('ZADD', key('guardHeld', target .. ':' .. kind), next_number(), item)
  redis.call('SADD', key('guardItems', target .. ':' .. ref), kind .. ' ' .. subject)
  redis.call('ZADD', key('alarms', target), string.format('%d', expires), ref)
  -- A marked user may wait for this removal: its sync becomes due, and notes that it waits for a decision.
  if kind == 'removeMembers' then requeue(target, 'User:' .. subject, EDIT) end
  -- The last administrator already has an exception with that more exact reason: it stays.
  if redis.call('HGET', key('exceptionReasons', target), ref) ~= 'LastAdministrator' then
    set_exception(target, ref, 'Held', clock())
  end
end
