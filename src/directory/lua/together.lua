-- For scripts whose batched calls each change one user. In ARGV a call is: number of texts, arguments as JSON, texts
-- (calls.lua); the first text is the id of the user. One HMGET reads a field of all users of the batch, and all users are
-- stored and marked at the end: one command for each user would be slower. Each call reads `field('users', id)` before it calls
-- `change_user`, which changes what that read has stored.
-- NEEDS keys (clock, DEACTIVATION, key, p), calls (finish), mark_texts (is_waiting, renewed), marks (schedule)
-- NEEDS synced (name_synced, reset_synced_of_changed_targets)

-- Fields that were read: family -> id -> value.
local known = {}
-- Ids of the users of all calls, in the order of the calls.
local ids = {}
do
  local at = 1
  while at <= #ARGV do
    ids[#ids + 1] = ARGV[at + 2]
    at = at + 2 + tonumber(ARGV[at])
  end
end

-- Returns the value of the user `id` in a hash whose fields are user ids; false when it does not exist. The first call reads
-- the values of all users of the batch.
local function field(family, id)
  local fields = known[family]
  if fields then return fields[id] end
  fields = {}
  for place, value in ipairs(redis.call('HMGET', key(family), unpack(ids))) do fields[ids[place]] = value end
  known[family] = fields
  return fields[id]
end

-- Changed users, which `finish` stores and marks. changed: { id, record, id, record, ... }; refs: of the changed users; priorities
-- and requests: by ref; back: ids of users whom the source made active again.
local changed, refs, priorities, requests, back = {}, {}, {}, {}, {}

-- Notes a changed user; later calls of the batch read its new `record` (its stored form). A user that changes twice in a batch gets
-- the more urgent priority (a lower number) and the last request.
local function change_user(id, record, priority, is_back)
  if is_back then back[#back + 1] = id end
  known.users[id] = record
  changed[#changed + 1] = id
  changed[#changed + 1] = record
  local ref = 'User:' .. id
  if not priorities[ref] then refs[#refs + 1] = ref end
  priorities[ref] = math.min(priorities[ref] or priority, priority)
  requests[ref] = p.request
end

-- Marks the changed users at a target. Returns the arguments of `schedule` for those that have to be scheduled.
local function mark_changed(target, now)
  local mark_texts = redis.call('HMGET', key('marks', target), unpack(refs))
  local scores = redis.call('ZMSCORE', key('dirty', target), unpack(refs))
  local marks, to_schedule, users = {}, {}, {}
  for place, ref in ipairs(refs) do
    users[place] = string.sub(ref, #'User:' + 1)
    marks[2 * place - 1], marks[2 * place] = ref, renewed(mark_texts[place], now, requests[ref])
    local priority, score = priorities[ref], scores[place] and tonumber(scores[place])
    -- A deactivation is scheduled in any case, because the guard counts it there (marks.lua).
    local is_waiting_already = mark_texts[place] and is_waiting(score, priority, now)
    if priority == DEACTIVATION or not is_waiting_already then
      to_schedule[#to_schedule + 1] = { ref = ref, priority = priority, mark_text = mark_texts[place], score = score }
    end
  end
  redis.call('HSET', key('marks', target), unpack(marks))
  redis.call('SREM', name_synced(target, 'User'), unpack(users))
  return to_schedule
end

-- Ends the held, approved and rejected deactivations and deletions of users who are active again.
local function take_closings_back(target)
  -- NEEDS guard_items (take_back), user_memberships (mark_removals)
  for _, user in ipairs(back) do
    local had_deactivation = take_back(target, 'User:' .. user, 'deactivate', '')
    local had_deletion = take_back(target, 'User:' .. user, 'delete', '')
    -- A removal from a group that was to be decided with the account needs a decision of its own now.
    if had_deactivation or had_deletion then mark_removals(target, user) end
  end
end

-- Stores and marks all changed users (calls.lua runs it last). If this fails, every call of the batch gets the error.
function finish() -- declared in calls.lua
  local has_changes = #refs > 0
  if not has_changes then return end
  reset_synced_of_changed_targets()
  redis.call('HSET', key('users'), unpack(changed))
  local now = clock()
  for _, target in ipairs(p.targets) do
    local to_schedule = mark_changed(target, now)
    if #back > 0 then take_closings_back(target) end
    for _, one in ipairs(to_schedule) do schedule(target, one.ref, one.priority, now, one.mark_text, one.score) end
  end
end
