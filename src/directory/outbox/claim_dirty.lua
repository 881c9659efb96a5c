-- Takes due marks of a target for the queue: lost deliveries again under their old delivery id, then new ones by priority.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, limit (most marks), room (number of delivered marks from which only deactivations are taken),
--        refs (absent: all; else only these are taken), leaseMs (time after which a delivery without a sync counts as lost),
--        address (of the platform, lua/stopped.lua), isHeldElsewhere (another connection of the target holds it because of
--        another tenant) }
-- RETURN list of {ref, delivery id, priority}; empty while the target is stopped
-- STEPS  1. Mark members of renamed groups, also on hold. End while the target is stopped.
--        2. Mark resources whose alarm is due, so that step 4 takes them.
--        3. Take lost deliveries, unless their resource was marked again: then step 4 takes it.
--        4. Take due marks, the most urgent priority first.
-- NEEDS keys (base, BEHIND_HELD, BEHIND_REFUSED, clock, DEACTIVATION, EDIT, key, p, SPAN), load (sample_load)
-- NEEDS marks (make_due, mark_at), numbers (next_number), renamed (mark_renamed), stopped (is_stopped, note_first_address)
-- If members of renamed groups are still to be marked afterwards, the message makes the relay call this script again.
if mark_renamed(p.target) then redis.call('PUBLISH', base .. 'marked', p.target) end
-- On hold the first address is not stored: the hold may belong to a restore, which is about to load the address of its backup.
local is_on_hold = p.isHeldElsewhere or redis.call('EXISTS', key('hold', p.target)) == 1
if is_on_hold then return {} end
note_first_address(p.target, p.address)
if is_stopped(p.target, p.address) then return {} end
local inflight, dirty, deliveries = key('inflight', p.target), key('dirty', p.target), key('deliveries', p.target)
local now = clock()
sample_load(p.target, now)
local claims = {}

-- Returns refs with a score in this range, at most `limit`: of p.refs, or without them those with the lowest scores.
local function between(set, low, high, limit)
  if not p.refs then return redis.call('ZRANGEBYSCORE', set, low, high, 'LIMIT', 0, limit) end
  local found = {}
  for _, ref in ipairs(p.refs) do
    local score = tonumber(redis.call('ZSCORE', set, ref))
    if score and score >= low and score <= high and #found < limit then found[#found + 1] = ref end
  end
  return found
end

-- Delivers a ref: the caller adds a job for each claim. `since`: time from which the age of the mark counts; nil: the `since` of
-- the mark.
local function hand_over(ref, delivery, priority, since)
  -- A mark is 'generation since request' (lua/mark_texts.lua). `accepted` keeps `since` while the ref is not in the dirty set.
  local mark_text = redis.call('HGET', key('marks', p.target), ref)
  if mark_text then
    redis.call('ZADD', key('accepted', p.target), since or string.match(mark_text, '^%d+ (%d+)'), ref)
  end
  redis.call('HSET', deliveries, ref, delivery .. ' ' .. priority)
  redis.call('ZADD', inflight, now + p.leaseMs, ref)
  claims[#claims + 1] = { ref, tostring(delivery), priority }
end

-- Resources whose alarm is due: they are synced again without a change.
for _, ref in ipairs(between(key('alarms', p.target), 0, now, p.limit)) do
  redis.call('ZREM', key('alarms', p.target), ref)
  mark_at(p.target, ref, EDIT, now)
end

-- Deliveries whose time is over: the job or its worker is gone.
for _, ref in ipairs(between(inflight, 0, now, p.limit)) do
  local delivery = redis.call('HGET', deliveries, ref)
  local is_marked = redis.call('HEXISTS', key('marks', p.target), ref) == 1
  if not is_marked then
    redis.call('ZREM', inflight, ref)
    redis.call('HDEL', deliveries, ref)
  elseif redis.call('ZSCORE', dirty, ref) then
    -- The ref was marked again: the new mark is kept, with the higher of the two priorities (make_due).
    local priority = delivery and tonumber(string.match(delivery, ' (%d+)$'))
    if priority then make_due(p.target, ref, priority, now) end
    redis.call('ZREM', inflight, ref)
    redis.call('HDEL', deliveries, ref)
  else
    local priority = delivery and tonumber(string.match(delivery, ' (%d+)$')) or EDIT
    hand_over(ref, delivery and string.match(delivery, '^%d+') or next_number(), priority)
  end
end

for priority = DEACTIVATION, BEHIND_REFUSED do
  local limit = p.limit - #claims
  if priority > DEACTIVATION then limit = math.min(limit, p.room - redis.call('ZCARD', inflight)) end
  if limit > 0 then
    local due = between(dirty, priority * SPAN, priority * SPAN + now, limit)
    for _, ref in ipairs(due) do
      -- A ref with a running sync stays in the set; ack_dirty notifies the relay when the sync ends.
      local is_syncing = redis.call('EXISTS', key('lease', p.target .. ':' .. ref)) == 1
      if not is_syncing then
        redis.call('ZREM', dirty, ref)
        -- The time for which a resource waited for an operator is no delay of the bridge, so the age of its mark counts from now.
        if priority >= BEHIND_HELD then hand_over(ref, next_number(), EDIT, string.format('%d', now))
        else hand_over(ref, next_number(), priority) end
      end
    end
  end
end
return claims
