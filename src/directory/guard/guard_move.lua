-- Moves one portion of the changes that the last decision covers, and marks their resources. Withdrawing a rejection marks
-- them, so that the guard judges them anew; a rejected removal of a member becomes pending again. The last portion corrects
-- the counts of the decision and removes its note.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { target, targets: [target], kinds, count (most changes) }
-- RETURN {"moved", 1 when more is left, else 0}
-- NEEDS exceptions, guard_items, marks, pending_groups
local MOST_PUT_OFF = 500
-- Most changes of a resource that are read.
local MOST_READ = 1000
local deciding = key('guardDeciding', p.target)
local action, source, number, ranges, choice, expires, request = unpack(redis.call('HMGET', deciding,
  'action', 'source', 'number', 'ranges', 'choice', 'expires', 'request'))
if not action then return { 'moved', 0 } end
p.request = request
ranges = cjson.decode(ranges)
local now = clock()
local function sets(family, kind) return key(family, p.target .. ':' .. kind) end

local looked, moved, left = {}, {}, p.count
local function move(kind, text)
  local ref = string.match(text, '^%S+')
  redis.call('ZREM', sets(source, kind), text)
  if action == 'approve' then
    redis.call('ZADD', sets('guardApproved', kind), expires, text)
  elseif action == 'reject' then
    redis.call('ZADD', sets('guardRejected', kind), number, text)
  end
  if source == 'guardRejected' and kind == 'removeMembers' then
    set_removal(string.match(ref, '^Group:(.*)$'), string.match(text, ' (.*)$'), '-')
  end
  moved[kind] = (moved[kind] or 0) + 1
  local urgent = action ~= 'reject' and (kind == 'deactivate' or string.sub(ref, 1, 5) == 'User:')
  looked[ref] = math.min(looked[ref] or EDIT, urgent and DEACTIVATION or EDIT)
end

-- Returns whether a chosen change is still in the list of the decision.
local function is_listed(kind, text)
  local place = tonumber(redis.call('ZSCORE', sets(source, kind), text) or nil)
  if not place then return false end
  for _, range in ipairs(ranges) do
    if place >= range[1] and place <= range[2] then return true end
  end
  return false
end

if choice ~= '' then
  local list = key('guardChoice', p.target .. ':' .. choice)
  local entries = redis.call('LRANGE', list, 0, p.count - 1)
  redis.call('LTRIM', list, p.count, -1)
  for _, entry in ipairs(entries) do
    local kind, text = string.match(entry, '^(%S+) (.*)$')
    if is_listed(kind, text) then move(kind, text) end
  end
  left = left - #entries
else
  for _, kind in ipairs(p.kinds) do
    for _, range in ipairs(ranges) do
      if left == 0 then break end
      local texts = redis.call('ZRANGEBYSCORE', sets(source, kind), range[1], range[2], 'LIMIT', 0, left)
      for _, text in ipairs(texts) do move(kind, text) end
      left = left - #texts
    end
  end
end
-- Returns the exception of a resource by its changes that are still held or rejected; of very many changes none is read.
local serial = tonumber(redis.call('HGET', key('guardApproval', p.target), 'serial') or nil)
local function exception_of(ref)
  local items, reason = key('guardItems', p.target .. ':' .. ref), action == 'reject' and 'Rejected' or nil
  if redis.call('SCARD', items) > MOST_READ then return reason, true end
  for _, entry in ipairs(redis.call('SMEMBERS', items)) do
    local kind, subject = string.match(entry, '^(%S+) (.*)$')
    local text = subject == '' and ref or ref .. ' ' .. subject
    local place = tonumber(redis.call('ZSCORE', sets('guardHeld', kind), text) or nil)
    if place and serial and place > serial then
      local before = redis.call('HGET', key('exceptionReasons', p.target), ref)
      return before == 'LastAdministrator' and kind == 'deactivate' and before or 'Held', true
    end
    if redis.call('ZSCORE', sets('guardRejected', kind), text) then reason = 'Rejected' end
  end
  return reason, false
end

for ref, priority in pairs(looked) do
  local reason, may_be_held = exception_of(ref)
  set_exception(p.target, ref, reason, now)
  -- The mark stands for the decided changes. Their alarm would try a dead letter again when the hold would have expired.
  if source == 'guardHeld' and not may_be_held then redis.call('ZREM', key('alarms', p.target), ref) end
  mark(ref, priority)
end
for kind, count in pairs(moved) do redis.call('HINCRBY', deciding, 'moved:' .. kind, count) end
if left == 0 then return { 'moved', 1 } end

-- A resource behind a held change, such as a new hire with the name of a held leaver, waits up to a minute
-- (sync/succession.ts), so it becomes due now. Beyond MOST_PUT_OFF of one priority the others become due by themselves.
for priority = DEACTIVATION, RECONCILE do
  local from, to = string.format('(%d', priority * SPAN + now), string.format('(%d', (priority + 1) * SPAN)
  for _, ref in ipairs(redis.call('ZRANGEBYSCORE', key('dirty', p.target), from, to, 'LIMIT', 0, MOST_PUT_OFF)) do
    local link = redis.call('HGET', key('links', p.target), ref)
    if link and string.find(link, '"reason":"Held"', 1, true) then requeue(p.target, ref, priority) end
  end
end

-- This decision is still the newest: the next one starts only after this one has ended.
local decision = cjson.decode(redis.call('LINDEX', key('guardDecisions', p.target), 0))
for _, kind in ipairs(p.kinds) do
  decision.kinds[kind] = tonumber(redis.call('HGET', deciding, 'moved:' .. kind) or '0')
end
redis.call('LSET', key('guardDecisions', p.target), 0, cjson.encode(decision))
redis.call('DEL', deciding)
guard_close(p.target)
return { 'moved', 0 }
