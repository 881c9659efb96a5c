-- Marks resources that may differ from the desired state at a target, and decides when they are due. `marks` has
-- the text of each mark (mark_texts.lua), `dirty` the refs that wait for delivery to the queue by dirty score (keys.lua), and
-- `deliveries` the job of a ref that was delivered: '<delivery id> <priority>' while the job waits, '- <priority>' while it runs.
-- A lower number is a more urgent priority.
-- NEEDS keys (base, clock, DEACTIVATION, key, p, SPAN), accepted_removals (count_deactivation)
-- NEEDS mark_texts (is_waiting, renewed, request_in_mark)
-- NEEDS synced (leave_synced)
-- Stands in `deliveries` in place of the delivery id while a job runs (begin_sync.lua).
local RUNNING = '- '

-- Makes a marked ref due at a dirty score (keys.lua), and notifies the relay once for each target and command.
local notified = {}
local function enqueue(target, ref, score)
  redis.call('ZADD', key('dirty', target), string.format('%d', score), ref)
  -- Redis delivers the message after the whole script, so one for each target also tells of the marks that are written later.
  if not notified[target] then redis.call('PUBLISH', base .. 'marked', target) end
  notified[target] = true
end

-- Returns the dirty score of a ref; false: it is not in `dirty`.
local function dirty_score(target, ref)
  local score = redis.call('ZSCORE', key('dirty', target), ref)
  return score and tonumber(score)
end

-- Makes a marked ref due. Its dirty score keeps the more urgent priority and the earlier due time.
local function make_due(target, ref, priority, due)
  local score = dirty_score(target, ref)
  if score then
    priority = math.min(priority, math.floor(score / SPAN))
    due = math.min(due, score % SPAN)
  end
  enqueue(target, ref, priority * SPAN + due)
end

-- Returns the priority of the job of a ref if the job waits in the queue; nil or false: none waits.
local function waiting_priority(target, ref)
  local delivery = redis.call('HGET', key('deliveries', target), ref)
  return delivery and tonumber(string.match(delivery, '^%d+ (%d+)$'))
end

-- Schedules a marked ref. `mark_text`: its previous mark (false: none); `score`: its previous dirty score. A ref whose job
-- waits in the queue is scheduled again only if the change is more urgent than the job: otherwise the job reads this change too.
local function schedule(target, ref, priority, due, mark_text, score)
  if priority == DEACTIVATION then count_deactivation(target, ref) end
  if not mark_text then
    -- A ref without a previous mark has no job and no dirty score, and it may be a dead letter (`blocked`).
    redis.call('ZREM', key('blocked', target), ref)
    -- During a load (lua/load.lua) a resource that was done is part of the backlog again.
    redis.call('SREM', key('loadDone', target), ref)
    return enqueue(target, ref, priority * SPAN + due)
  end
  if is_waiting(score, priority, due) then return end
  local job_priority = waiting_priority(target, ref)
  local has_urgent_job = job_priority and job_priority <= priority
  if has_urgent_job then return end
  make_due(target, ref, priority, due)
end

-- Marks a ref at a target with a new generation; the time of its oldest change that is not applied is kept. `now`: the time of
-- this change; `due`: later due time; nil: `now`.
local function mark_at(target, ref, priority, now, due)
  local mark_text = redis.call('HGET', key('marks', target), ref)
  redis.call('HSET', key('marks', target), ref, renewed(mark_text, now, p.request))
  leave_synced(target, ref)
  schedule(target, ref, priority, due or now, mark_text, mark_text and dirty_score(target, ref))
end

-- Marks a ref at a target by an order, without a change of the resource. A ref that is marked already keeps the request of its
-- change, because an order for it only makes the sync happen now.
local function mark_by_order(target, ref, priority, now)
  local order, mark_text = p.request, redis.call('HGET', key('marks', target), ref)
  p.request = mark_text and request_in_mark(mark_text) or order
  mark_at(target, ref, priority, now)
  p.request = order
end

-- Marks a ref at all targets of the call. `due`: later due time; nil or false: now.
local function mark(ref, priority, due)
  local now = clock()
  for _, target in ipairs(p.targets) do mark_at(target, ref, priority, now, due or nil) end
end

-- Makes a marked ref due now, because the sync, decision or membership that it waits for has changed. Its generation is kept,
-- because the resource did not change. A ref without a mark, or with a job that waits in the queue, needs nothing.
local function requeue(target, ref, priority)
  local is_marked = redis.call('HEXISTS', key('marks', target), ref) == 1
  if not is_marked or waiting_priority(target, ref) then return end
  make_due(target, ref, priority, clock())
end
