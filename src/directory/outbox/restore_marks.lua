-- Marks resources without a mark (lost, or the target is new), and schedules marks that are in no list. Resources that may
-- have too much access get the highest priority.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { target, targets: [target], refs, request, priority }
-- RETURN {"restored", number}
-- NEEDS link_states, marks
local restored = 0

local function priority_of(ref)
  local kind, id = string.match(ref, '^(%a+):(.*)$')
  if kind ~= 'User' or not is_open(p.target, ref) then return p.priority end
  local stored = redis.call('HGET', key('users'), id)
  local is_leaver = not stored or string.match(stored, '^%d+ %d+ %d+ (%S+)') == 'inactive'
  return is_leaver and DEACTIVATION or p.priority
end

local function restore(ref)
  local priority = priority_of(ref)
  if redis.call('HEXISTS', key('marks', p.target), ref) == 0 then return mark(ref, priority) end
  if is_scheduled(p.target, ref) then return end
  redis.call('HDEL', key('deliveries', p.target), ref)
  make_due(p.target, ref, priority, clock())
end

for _, ref in ipairs(p.refs) do
  restore(ref)
  restored = restored + 1
end
return { 'restored', restored }
