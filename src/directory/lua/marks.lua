-- What is not yet equal at a target, and when it is due.
-- NEEDS mark_texts, synced

-- Marks a ref as not yet equal at the target. The oldest time of acceptance stays, the generation is new.
-- A job that still waits in the queue will read this change, unless the change is more urgent than the job.
local told = {}
local function enqueue(target, ref, score)
  redis.call('ZADD', key('dirty', target), string.format('%d', score), ref)
  -- Nobody hears of it before the command is over.
  if not told[target] then redis.call('PUBLISH', base .. 'marked', target) end
  told[target] = true
end

local function dirty_score(target, ref)
  local score = redis.call('ZSCORE', key('dirty', target), ref)
  return score and tonumber(score)
end

local function make_due(target, ref, lane, due)
  -- A ref that waits in a more urgent lane stays there; it only becomes due earlier.
  local score = dirty_score(target, ref)
  if score then
    lane = math.min(lane, math.floor(score / SPAN))
    due = math.min(due, score % SPAN)
  end
  enqueue(target, ref, lane * SPAN + due)
end

-- The lane of the job that waits in the queue for a ref; nil when none waits (none, or one that runs: '- lane').
local function waiting_lane(target, ref)
  local ticket = redis.call('HGET', key('tickets', target), ref)
  return ticket and tonumber(string.match(ticket, '^%d+ (%d+)$'))
end

-- Whether the account behind a user's link may be active, as far as we know.
local function is_open(target, ref)
  local link = redis.call('HGET', key('links', target), ref)
  if not link then return false end
  local known = cjson.decode(link)
  for _, name in ipairs(known.unsure or {}) do if name == 'active' then return true end end
  return known.id ~= nil and (known.c or {}).a ~= false
end

-- A deactivation counts for the guard from the moment it is accepted, unless it is held or approved already.
local function announce(target, ref)
  local of_kind = target .. ':deactivate'
  if not is_open(target, ref) or redis.call('ZSCORE', key('guardHeld', of_kind), ref) then return end
  if redis.call('ZSCORE', key('guardApproved', of_kind), ref) then return end
  redis.call('SADD', key('guardWaiting', target), ref)
end

-- Sees to it that a ref that is marked now is looked at. `held`: the mark it had before; `score`: its place among the due.
local function make_known(target, ref, lane, due, held, score)
  if lane == 0 then announce(target, ref) end
  if not held then
    -- Neither a job nor the dirty set knows a ref without a mark, and only such a ref can be blocked.
    redis.call('ZREM', key('blocked', target), ref)
    return enqueue(target, ref, lane * SPAN + due)
  end
  if is_waiting(score, lane, due) then return end
  local waiting = waiting_lane(target, ref)
  if waiting and waiting <= lane then return end
  make_due(target, ref, lane, due)
end

local function mark_at(target, ref, lane, now, due)
  local held = redis.call('HGET', key('marks', target), ref)
  redis.call('HSET', key('marks', target), ref, renewed(held, now, p.request))
  leave_synced(target, ref)
  make_known(target, ref, lane, due or now, held, held and dirty_score(target, ref))
end

local function mark(ref, lane, due)
  local now = clock()
  for _, target in ipairs(p.targets) do mark_at(target, ref, lane, now, due or nil) end
end

-- Makes a ref that is marked already due now; nothing new happened to it, so its generation stays.
local function wake(target, ref, lane)
  if redis.call('HEXISTS', key('marks', target), ref) == 0 then return end
  if waiting_lane(target, ref) then return end
  make_due(target, ref, lane, clock())
end
