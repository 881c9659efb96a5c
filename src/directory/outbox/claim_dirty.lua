-- Takes due marks of a target for the queue: lost deliveries again under their old delivery id, then new ones by priority.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { target, limit, room (how many may be in flight before only deactivations are taken), leaseMs, address }
-- RETURN list of {ref, delivery id, priority}; empty while the target is stopped
-- NEEDS load, marks, renamed, stopped
if mark_renamed(p.target) then redis.call('PUBLISH', base .. 'marked', p.target) end
-- On hold the first address is not stored: the hold may belong to a restore, which is about to load the address of its backup.
if redis.call('EXISTS', key('hold', p.target)) == 1 then return {} end
note_first_address(p.target, p.address)
if is_stopped(p.target, p.address) then return {} end
local inflight, dirty, deliveries = key('inflight', p.target), key('dirty', p.target), key('deliveries', p.target)
local now = clock()
sample_load(p.target, now)
local claims = {}

local function hand_over(ref, delivery, priority)
  -- Outside of the dirty set the age of a mark is kept in `accepted`.
  local mark_text = redis.call('HGET', key('marks', p.target), ref)
  if mark_text then redis.call('ZADD', key('accepted', p.target), string.match(mark_text, '^%d+ (%d+)'), ref) end
  redis.call('HSET', deliveries, ref, delivery .. ' ' .. priority)
  redis.call('ZADD', inflight, now + p.leaseMs, ref)
  claims[#claims + 1] = { ref, tostring(delivery), priority }
end

for _, ref in ipairs(redis.call('ZRANGEBYSCORE', key('alarms', p.target), '-inf', now, 'LIMIT', 0, p.limit)) do
  redis.call('ZREM', key('alarms', p.target), ref)
  mark_at(p.target, ref, EDIT, now)
end

for _, ref in ipairs(redis.call('ZRANGEBYSCORE', inflight, '-inf', now, 'LIMIT', 0, p.limit)) do
  local delivery = redis.call('HGET', deliveries, ref)
  if redis.call('HEXISTS', key('marks', p.target), ref) == 0 then
    redis.call('ZREM', inflight, ref)
    redis.call('HDEL', deliveries, ref)
  elseif redis.call('ZSCORE', dirty, ref) then
    -- Its worker is lost and it was marked again: the new mark is kept with the higher priority.
    local priority = delivery and tonumber(string.match(delivery, ' (%d+)$'))
    if priority then make_due(p.target, ref, priority, now) end
    redis.call('ZREM', inflight, ref)
    redis.call('HDEL', deliveries, ref)
  else
    local priority = delivery and tonumber(string.match(delivery, ' (%d+)$')) or EDIT
    hand_over(ref, delivery and string.match(delivery, '^%d+') or next_number(), priority)
  end
end

for priority = DEACTIVATION, RECONCILE do
  local limit = p.limit - #claims
  if priority > DEACTIVATION then limit = math.min(limit, p.room - redis.call('ZCARD', inflight)) end
  if limit > 0 then
    local due = redis.call('ZRANGEBYSCORE', dirty, priority * SPAN, priority * SPAN + now, 'LIMIT', 0, limit)
    for _, ref in ipairs(due) do
      -- A ref with a running sync stays in the set; ack_dirty notifies the relay when the sync ends.
      if redis.call('EXISTS', key('lease', p.target .. ':' .. ref)) == 0 then
        redis.call('ZREM', dirty, ref)
        hand_over(ref, next_number(), priority)
      end
    end
  end
end
return claims
