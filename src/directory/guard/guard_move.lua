-- Carries out one portion of the last decision: moves held or rejected changes to the approved or rejected ones. The withdrawal of
-- a rejection only takes changes out of the rejected ones. A removal of a member that was rejected, or that was kept with the
-- account of a deleted user (guard_leavers.lua), is pending again.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, targets: [target], kinds, count (most changes of a portion) }
-- RETURN {"moved", 1 when more changes are to be moved, else 0}
-- STEPS  1. Move the changes of this portion.
--        2. Store the exception of each resource, after all moves, because it depends on the changes that are left. Mark the
--           resource: the next sync acts by the decision, and after a withdrawal the guard judges the change anew.
--        3. If the portion was full, end: the next call goes on.
--        4. Make resources due that wait for a held change; store how many changes were moved; end the decision and the approval.
-- NEEDS keys (DEACTIVATION, EDIT, key, p), decided_requests (request_of), exceptions (set_exception)
-- NEEDS guard_exceptions (exception_of), guard_items (guard_close), kept_removals (resume_removals), marks (mark)
-- NEEDS pending_groups (set_removal), put_off (make_put_off_due), signs (TO_REMOVE)

-- The last decision as guard_decide.lua stored it: action approve|reject|withdraw; source, the family from which the changes
-- are moved; number of the decision; ranges of scores in the source, [[from, to]] as JSON; choice, the id of the list of chosen
-- changes, '' for all; expires, the end of an approval; request, the correlation id of the marks that the decision sets;
-- 'moved:<kind>', the number of changes that were moved.
local deciding = key('guardDeciding', p.target)
local action, source, number, ranges, choice, expires, request = unpack(redis.call('HMGET', deciding,
  'action', 'source', 'number', 'ranges', 'choice', 'expires', 'request'))
if not action then return { 'moved', 0 } end
ranges = cjson.decode(ranges)
local function sets(family, kind) return key(family, p.target .. ':' .. kind) end

-- priorities: of the mark of each resource with a moved change; moved: number of moved changes of each kind; left: how many
-- more changes this portion may move.
local priorities, moved, left = {}, {}, p.count

-- Moves one change. `item`: 'ref' or 'ref subject', the removed member or cleared attribute (lua/guard_items.lua).
local function move(kind, item)
  local ref = string.match(item, '^%S+')
  redis.call('ZREM', sets(source, kind), item)
  if action == 'approve' then
    redis.call('ZADD', sets('guardApproved', kind), expires, item)
  elseif action == 'reject' then
    redis.call('ZADD', sets('guardRejected', kind), number, item)
  end
  -- A rejected removal of a member is stored as a kept one (`r`). Its approval, or the end of the rejection, makes it pending
  -- again.
  if source == 'guardRejected' and kind == 'removeMembers' then
    set_removal(string.match(ref, '^Group:(.*)$'), string.match(item, ' (.*)$'), TO_REMOVE)
  end
  if source == 'guardRejected' and kind == 'deactivate' then
    -- The groups get a mark too: the sync of the user marks them only after the platform has closed the account, which it may
    -- refuse.
    for _, group in ipairs(resume_removals(p.target, string.match(ref, ':(.*)$'))) do priorities[group] = EDIT end
  end
  moved[kind] = (moved[kind] or 0) + 1
  -- As after a push, only a deactivation is urgent: with that priority its mark counts it as accepted (lua/marks.lua). A rejection
  -- writes nothing.
  local is_urgent = action ~= 'reject' and kind == 'deactivate'
  priorities[ref] = math.min(priorities[ref] or EDIT, is_urgent and DEACTIVATION or EDIT)
end

-- Returns whether a chosen change is still in the list of the decision: a push or a sync may have ended it.
local function is_listed(kind, item)
  local place = tonumber(redis.call('ZSCORE', sets(source, kind), item))
  if not place then return false end
  for _, range in ipairs(ranges) do
    local from, to = unpack(range)
    if place >= from and place <= to then return true end
  end
  return false
end

if choice ~= '' then
  local list = key('guardChoice', p.target .. ':' .. choice)
  local entries = redis.call('LRANGE', list, 0, p.count - 1)
  redis.call('LTRIM', list, p.count, -1)
  for _, entry in ipairs(entries) do
    local kind, item = string.match(entry, '^(%S+) (.*)$')
    if is_listed(kind, item) then move(kind, item) end
  end
  left = left - #entries
else
  for _, kind in ipairs(p.kinds) do
    for _, range in ipairs(ranges) do
      if left == 0 then break end
      local from, to = unpack(range)
      local items = redis.call('ZRANGEBYSCORE', sets(source, kind), from, to, 'LIMIT', 0, left)
      for _, item in ipairs(items) do move(kind, item) end
      left = left - #items
    end
  end
end

for ref, priority in pairs(priorities) do
  local reason, may_be_held, since = exception_of(p.target, ref, action == 'reject' and 'Rejected' or nil)
  set_exception(p.target, ref, reason, since)
  -- The mark below makes the sync happen, so the alarm at the end of the approval is not needed; of a dead letter it would only
  -- repeat the refused write.
  if source == 'guardHeld' and not may_be_held then redis.call('ZREM', key('alarms', p.target), ref) end
  p.request = request_of(p.target, ref, action, request)
  mark(ref, priority) -- with p.request
end
for kind, count in pairs(moved) do redis.call('HINCRBY', deciding, 'moved:' .. kind, count) end
if left == 0 then return { 'moved', 1 } end

-- This decision may end the wait of other resources, such as a new hire who needs the name of a held leaver.
make_put_off_due(p.target)

-- This decision is still the newest: the next one starts only after this one has ended.
local decision = cjson.decode(redis.call('LINDEX', key('guardDecisions', p.target), 0))
for _, kind in ipairs(p.kinds) do
  decision.kinds[kind] = tonumber(redis.call('HGET', deciding, 'moved:' .. kind) or '0')
end
redis.call('LSET', key('guardDecisions', p.target), 0, cjson.encode(decision))
redis.call('DEL', deciding)
guard_close(p.target)
return { 'moved', 0 }
