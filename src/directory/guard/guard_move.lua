-- Carries out one portion of the last decision: moves changes from the held or rejected ones to the approved or rejected ones,
-- or, when a rejection is withdrawn, only out of the rejected ones. It marks their resources, so that the next sync acts by the
-- decision; after a withdrawal the guard judges the changes anew. A removal of a member that was rejected, or that was kept with
-- the account of a deleted user (guard_leavers.lua), is pending again.
-- The last portion makes resources due that wait for a held change, stores how many changes were moved, and deletes
-- guardDeciding.
-- KEYS key base. lua/keys.lua explains these header lines, `p` (the arguments), `key`, `clock` and unexplained arguments
-- ARGV { target, targets: [target], kinds, count (most changes of a portion) }
-- RETURN {"moved", 1 when more changes are to be moved, else 0}
-- NEEDS exceptions, guard_items, marks, pending_groups

-- Most waiting resources of one priority that the last portion makes due.
local MOST_PUT_OFF = 500
-- Most changes of a resource that are read.
local MOST_READ = 1000
-- The last decision as guard_decide.lua stored it: action approve|reject|withdraw; source, the family from which the changes
-- are moved; number of the decision; ranges of scores in the source, [[from, to]] as JSON; choice, the id of the list of chosen
-- changes, '' for all; expires, the end of an approval; request, the correlation id of the marks that the decision sets;
-- 'moved:<kind>', the number of changes that were moved.
local deciding = key('guardDeciding', p.target)
local action, source, number, ranges, choice, expires, request = unpack(redis.call('HMGET', deciding,
  'action', 'source', 'number', 'ranges', 'choice', 'expires', 'request'))
if not action then return { 'moved', 0 } end
ranges = cjson.decode(ranges)
local now = clock()
local function sets(family, kind) return key(family, p.target .. ':' .. kind) end

-- priorities: of the mark of each resource with a moved change; moved: number of moved changes of each kind; left: how many
-- more changes this portion may move.
local priorities, moved, left = {}, {}, p.count

-- Makes the removals of a user pending again that were kept with the account, because its rejection ends. The groups get a mark
-- too, because the sync of the user marks them only after the platform has closed the account, which it may refuse.
local function resume_removals(user)
  local signs = redis.call('HGETALL', key('pendingGroups', p.target .. ':' .. user))
  for index = 1, #signs, 2 do
    local group, sign = signs[index], signs[index + 1]
    local is_rejected = redis.call('ZSCORE', sets('guardRejected', 'removeMembers'), 'Group:' .. group .. ' ' .. user)
    local is_removal = sign == KEPT_REMOVAL or sign == TO_REMOVE
    if is_removal and not is_rejected then
      set_removal(group, user, TO_REMOVE)
      priorities['Group:' .. group] = EDIT
    end
  end
end

-- Moves one change. `item`: 'ref' or 'ref subject', the removed member or cleared attribute (lua/guard_items.lua).
local function move(kind, item)
  local ref = string.match(item, '^%S+')
  redis.call('ZREM', sets(source, kind), item)
  if action == 'approve' then
    redis.call('ZADD', sets('guardApproved', kind), expires, item)
  elseif action == 'reject' then
    redis.call('ZADD', sets('guardRejected', kind), number, item)
  end
  -- A rejected removal of a member is stored as a kept one (`r`). Its approval, or the end of the rejection, makes it pending again.
  if source == 'guardRejected' and kind == 'removeMembers' then
    set_removal(string.match(ref, '^Group:(.*)$'), string.match(item, ' (.*)$'), TO_REMOVE)
  end
  if source == 'guardRejected' and kind == 'deactivate' then resume_removals(string.match(ref, ':(.*)$')) end
  moved[kind] = (moved[kind] or 0) + 1
  -- As after a push, only a deactivation is urgent: a mark of that priority counts as one that is accepted (lua/marks.lua). A
  -- rejection writes nothing.
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

-- Returns the time of the rejection with this number; every rejection in force is among the decisions (guard_decide.lua).
local rejected_at -- number of a decision -> its time; read at the first call
local function time_of_rejection(rejection)
  if not rejected_at then
    rejected_at = {}
    for _, text in ipairs(redis.call('LRANGE', key('guardDecisions', p.target), 0, -1)) do
      local decision = cjson.decode(text)
      rejected_at[decision.number] = decision.at
    end
  end
  return rejected_at[tonumber(rejection)] or now
end

-- Returns three values by the changes of a resource that are still held or rejected: the reason of its exception (nil: none),
-- whether one of them may be held, and since when the exception is there. Of more than MOST_READ changes none is read.
local serial = tonumber(redis.call('HGET', key('guardApproval', p.target), 'serial'))
local function exception_of(ref)
  local items, reason = key('guardItems', p.target .. ':' .. ref), action == 'reject' and 'Rejected' or nil
  local since = now
  if redis.call('SCARD', items) > MOST_READ then return reason, true, since end
  for _, entry in ipairs(redis.call('SMEMBERS', items)) do
    local kind, subject = string.match(entry, '^(%S+) (.*)$')
    local item = subject == '' and ref or ref .. ' ' .. subject
    local place = tonumber(redis.call('ZSCORE', sets('guardHeld', kind), item))
    local is_held = place and serial and place > serial -- under the open approval
    if is_held then
      -- The deactivation of the last administrator keeps the more exact reason.
      local before = redis.call('HGET', key('exceptionReasons', p.target), ref)
      return before == 'LastAdministrator' and kind == 'deactivate' and before or 'Held', true, now
    end
    local rejection = redis.call('ZSCORE', sets('guardRejected', kind), item)
    if rejection then reason, since = 'Rejected', math.min(since, time_of_rejection(rejection)) end
  end
  return reason, false, since
end

for ref, priority in pairs(priorities) do
  local reason, may_be_held, since = exception_of(ref)
  set_exception(p.target, ref, reason, since)
  -- The mark below makes the sync happen, so the alarm at the end of the approval is not needed; of a dead letter it would only
  -- repeat the refused write.
  if source == 'guardHeld' and not may_be_held then redis.call('ZREM', key('alarms', p.target), ref) end
  local mark_text = redis.call('HGET', key('marks', p.target), ref)
  local id_of_mark = mark_text and string.match(mark_text, '^%d+ %d+ (.*)$')
  -- The mark has the correlation id under which its sync logs the writes (id_of_mark). An approval puts its own id there if it
  -- alone causes the writes. After a rejection or a withdrawal the mark keeps its id. When changes of both an approval and a
  -- withdrawal share the mark, no single id is right: the mark gets NO_REQUEST, which a later approval keeps.
  local opposite = action == 'approve' and '^withdrawal:' or '^approval:'
  local has_no_single_id = id_of_mark == NO_REQUEST or id_of_mark and string.find(id_of_mark, opposite)
  if action ~= 'reject' and has_no_single_id then p.request = NO_REQUEST
  elseif id_of_mark and action ~= 'approve' then p.request = id_of_mark
  else p.request = request end
  mark(ref, priority) -- with p.request
end
for kind, count in pairs(moved) do redis.call('HINCRBY', deciding, 'moved:' .. kind, count) end
if left == 0 then return { 'moved', 1 } end

-- This decision may end the wait of other resources, such as that of a new hire for the name of a held leaver. Their next sync
-- is put off by up to a minute (sync/names/succession.ts), so they become due now. At most MOST_PUT_OFF resources of each priority
-- are looked at; the others keep their due time.
for priority = DEACTIVATION, BEHIND_REFUSED do
  local from, to = string.format('(%d', priority * SPAN + now), string.format('(%d', (priority + 1) * SPAN)
  for _, ref in ipairs(redis.call('ZRANGEBYSCORE', key('dirty', p.target), from, to, 'LIMIT', 0, MOST_PUT_OFF)) do
    local link = redis.call('HGET', key('links', p.target), ref)
    -- The condition in the text of the link (link.ts).
    local waits_for_decision = link and string.find(link, '"reason":"Held"', 1, true)
    if waits_for_decision then requeue(p.target, ref, math.min(priority, RECONCILE)) end
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
