-- Holds of targets. While a target is on hold, no marks are delivered to the queue, and running syncs lose their lease before
-- their next step. `hold:<target>` has the order as JSON: since, by, note. A reconcile run holds a target that may be another
-- tenant. Its hold goes before that of an operator, whose release would let syncs write there; the order keeps the operator's name
-- and note in `operator` and `operatorNote`.
-- NEEDS keys (clock, key)

-- Number of leases that one command deletes: one command for many costs less than many commands.
local LEASES_AT_ONCE = 1000

-- Ends the leases of all running syncs of a target.
local function end_leases(target)
  -- `inflight` has the refs whose sync may be running.
  local leases = {}
  for index, ref in ipairs(redis.call('ZRANGE', key('inflight', target), 0, -1)) do
    leases[(index - 1) % LEASES_AT_ONCE + 1] = key('lease', target .. ':' .. ref)
    if #leases == LEASES_AT_ONCE then redis.call('DEL', unpack(leases)); leases = {} end
  end
  if #leases > 0 then redis.call('DEL', unpack(leases)) end
end

-- Holds a target. There are two kinds of holds: of reconcile runs (`by` is 'reconcile'), and of operators and the service (`by` is
-- the name of the holder). If the target has a hold of the same kind already, returns false and changes nothing; with `replaces`,
-- the new hold takes the place of that hold.
local function hold_target(target, by, note, replaces)
  local hold = key('hold', target)
  local order = { since = clock(), by = by, note = note }
  local stored = redis.call('GET', hold)
  if stored then
    local former = cjson.decode(stored)
    if by == 'reconcile' and former.by ~= 'reconcile' then
      order.since, order.operator, order.operatorNote = former.since, former.by, former.note
    elseif by ~= 'reconcile' and former.by == 'reconcile' and (replaces or not former.operator) then
      order = { since = former.since, by = former.by, note = former.note, operator = by, operatorNote = note }
    elseif not replaces then
      return false
    end
  end
  redis.call('SET', hold, cjson.encode(order))
  end_leases(target)
  return true
end
