-- Derives the exception of a resource from its held and rejected changes.
-- NEEDS keys (clock, key)

-- Most changes of a resource that are read.
local MOST_READ = 1000

-- Returns the time of the rejection with this number. Every rejection in force is among the decisions (guard_decide.lua), which
-- are read once for each command.
local rejected_at = {}
local function time_of_rejection(target, rejection)
  if not rejected_at[target] then
    rejected_at[target] = {}
    for _, text in ipairs(redis.call('LRANGE', key('guardDecisions', target), 0, -1)) do
      local decision = cjson.decode(text)
      rejected_at[target][decision.number] = decision.at
    end
  end
  return rejected_at[target][tonumber(rejection)] or clock()
end

-- Returns three values: the reason of the exception (nil: none), whether a change of the resource may be held, and since when the
-- exception is there. `assumed`: the reason if there are more than MOST_READ changes, none of which is read then.
local function exception_of(target, ref, assumed)
  local items, reason, since = key('guardItems', target .. ':' .. ref), nil, clock()
  if redis.call('SCARD', items) > MOST_READ then return assumed, true, since end
  local serial = tonumber(redis.call('HGET', key('guardApproval', target), 'serial'))
  for _, entry in ipairs(redis.call('SMEMBERS', items)) do
    local kind, subject = string.match(entry, '^(%S+) (.*)$')
    local item = subject == '' and ref or ref .. ' ' .. subject
    local place = tonumber(redis.call('ZSCORE', key('guardHeld', target .. ':' .. kind), item))
    local is_held = place and serial and place > serial -- under the open approval
    if is_held then
      -- The deactivation of the last administrator keeps the more exact reason.
      local before = redis.call('HGET', key('exceptionReasons', target), ref)
      local keeps_reason = kind == 'deactivate' and before == 'LastAdministrator'
      return keeps_reason and before or 'Held', true, clock()
    end
    local rejection = redis.call('ZSCORE', key('guardRejected', target .. ':' .. kind), item)
    if rejection then reason, since = 'Rejected', math.min(since, time_of_rejection(target, rejection)) end
  end
  return reason, false, since
end
