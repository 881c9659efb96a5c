-- Marks resources that are not synced and have no mark (it was lost, or the target is new), and schedules marks that are
-- neither in `dirty` nor in `inflight`. A user whose account should be closed and may be open gets the highest priority.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, targets: [target] (the same one, read by mark()), refs, request, priority (of all other refs) }
-- RETURN {"restored"}
-- NEEDS keys (clock, DEACTIVATION, key, p), accepted_removals (is_open), link_states (marked_state), marks (make_due, mark)

-- Returns the priority of the mark. `is_open`: whether the account may be active (lua/accepted_removals.lua).
local function priority_of(ref)
  local kind, id = string.match(ref, '^(%a+):(.*)$')
  if kind ~= 'User' or not is_open(p.target, ref) then return p.priority end
  local stored = redis.call('HGET', key('users'), id)
  -- The fourth word of a record is its state (lua/heads.lua).
  local should_be_closed = not stored or string.match(stored, '^%d+ %d+ %d+ (%S+)') == 'inactive'
  return should_be_closed and DEACTIVATION or p.priority
end

-- Marks a resource, or makes its mark due if nothing would deliver the mark (`stuck`, lua/link_states.lua).
local function restore(ref)
  local priority = priority_of(ref)
  local is_marked = redis.call('HEXISTS', key('marks', p.target), ref) == 1
  if not is_marked then return mark(ref, priority) end
  if marked_state(p.target, ref) ~= 'stuck' then return end
  -- Without its delivery the ref counts as not delivered.
  redis.call('HDEL', key('deliveries', p.target), ref)
  make_due(p.target, ref, priority, clock())
end

for _, ref in ipairs(p.refs) do restore(ref) end
return { 'restored' }
