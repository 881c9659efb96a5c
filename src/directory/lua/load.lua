-- Functions for the progress of a load: a backlog far larger than that of normal operation.
-- Numbers of marks at which a load begins and ends.
local LOAD_START, LOAD_END = 100, 10
local SAMPLE_MS, MOST_SAMPLES = 2000, 32

local function end_load(target)
  redis.call('DEL', key('load', target), key('loadSamples', target))
end

-- Counts a resource whose mark was cleared; the load ends when at most LOAD_END marks are left.
local function note_cleared(target)
  if redis.call('EXISTS', key('load', target)) == 0 then return end
  if redis.call('HLEN', key('marks', target)) <= LOAD_END then return end_load(target) end
  redis.call('HINCRBY', key('load', target), 'done', 1)
end

-- Begins a load when LOAD_START resources are marked, and stores samples of its progress: time and number of done resources.
local function sample_load(target, now)
  local state, marked = key('load', target), redis.call('HLEN', key('marks', target))
  local sampled_at, done = unpack(redis.call('HMGET', state, 'sampledAt', 'done'))
  if not sampled_at and marked < LOAD_START then return end
  if sampled_at and marked <= LOAD_END then return end_load(target) end
  if sampled_at and now - tonumber(sampled_at) < SAMPLE_MS then return end
  if not sampled_at then redis.call('HSET', state, 'startedAt', string.format('%d', now), 'done', 0) end
  redis.call('HSET', state, 'sampledAt', string.format('%d', now))
  redis.call('LPUSH', key('loadSamples', target), string.format('%d', now) .. ' ' .. (done or '0'))
  redis.call('LTRIM', key('loadSamples', target), 0, MOST_SAMPLES - 1)
end

-- Returns {} without a load; else { start in milliseconds ('' before the first sample), done, samples 'milliseconds done' with
-- the newest first }. Writes nothing.
local function read_load(target)
  local started_at, done = unpack(redis.call('HMGET', key('load', target), 'startedAt', 'done'))
  local marked = redis.call('HLEN', key('marks', target))
  if marked <= LOAD_END or (not started_at and marked < LOAD_START) then return {} end
  return { started_at or '', done or '0', redis.call('LRANGE', key('loadSamples', target), 0, -1) }
end
