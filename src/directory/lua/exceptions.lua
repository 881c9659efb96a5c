-- Keeps the lists of exceptions: resources that differ from the desired state until a person acts. `exceptionReasons:<target>`
-- has the reason of each ref, and `exceptions:<target>:<reason>` the refs of a reason by time (exceptions.ts).
-- NEEDS keys (key)

-- Reasons that wait for the same decision: a ref that moves between them keeps its time.
local HELD_REASONS = { Held = true, LastAdministrator = true }

-- Moves a ref to the list of `reason`, with the time `since`; without a reason, takes it out of its list. A ref that stays in
-- its list keeps its time.
local function set_exception(target, ref, reason, since)
  local by_ref = key('exceptionReasons', target)
  local before = redis.call('HGET', by_ref, ref)
  local is_unchanged = before == (reason or false)
  if is_unchanged then return end
  if before then
    local list = key('exceptions', target .. ':' .. before)
    if HELD_REASONS[before] and HELD_REASONS[reason] then since = tonumber(redis.call('ZSCORE', list, ref)) or since end
    redis.call('ZREM', list, ref)
  end
  if not reason then return redis.call('HDEL', by_ref, ref) end
  redis.call('HSET', by_ref, ref, reason)
  redis.call('ZADD', key('exceptions', target .. ':' .. reason), string.format('%d', since), ref)
end
