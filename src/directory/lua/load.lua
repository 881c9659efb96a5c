-- Measures the progress of a load, a backlog far larger than in normal operation, so that an operator sees its remaining time.
-- `load:<target>` has startedAt, sampledAt (Unix milliseconds) and done, the number of resources that were synced since the
-- start; `loadSamples:<target>` has 'milliseconds done' of the last minute. `key`: keys.lua.

-- Numbers of marks at which a load begins and ends.
local LOAD_START, LOAD_END = 100, 10
-- Time between two samples, and how many of them are kept.
local SAMPLE_MS, MOST_SAMPLES = 2000, 32

-- Removes the counters of a load.
local function end_load(target)
  redis.call('DEL', key('load', target), key('loadSamples', target))
end

-- Counts a resource whose mark was cleared; the load ends when at most LOAD_END marks are left.
local function note_cleared(target)
  if redis.call('EXISTS', key('load', target)) == 0 then return end
  if redis.call('HLEN', key('marks', target)) <= LOAD_END then return end_load(target) end
  redis.call('HINCRBY', key('load', target), 'done', 1)
end

-- Begins a load when LOAD_START resources are marked, and takes a sample of its progress every SAMPLE_MS.
local function sample_load(target, now)
  local state, marked = key('load', target), redis.call('HLEN', key('marks', target))
  local sampled_at, done = unpack(redis.call('HMGET', state, 'sampledAt', 'done'))
  -- `false` in the reply: the field is absent, so no load is under way.
  local is_load = sampled_at ~= false
  if not is_load and marked < LOAD_START then return end
  if is_load and marked <= LOAD_END then return end_load(target) end
  if is_load and now - tonumber(sampled_at) < SAMPLE_MS then return end
  if not is_load then redis.call('HSET', state, 'startedAt', string.format('%d', now), 'done', 0) end
  redis.call('HSET', state, 'sampledAt', string.format('%d', now))
  redis.call('LPUSH', key('loadSamples', target), string.format('%d', now) .. ' ' .. (done or '0'))
  redis.call('LTRIM', key('loadSamples', target), 0, MOST_SAMPLES - 1)
end

-- Returns {} without a load; else { start in milliseconds ('' before the first sample), done, samples 'milliseconds done' with
-- the newest first }. Writes nothing.
local function read_load(target)
  local started_at, done = unpack(redis.call('HMGET', key('load', target), 'startedAt', 'done'))
  local marked = redis.call('HLEN', key('marks', target))
  local has_begun = started_at or marked >= LOAD_START
  if not has_begun or marked <= LOAD_END then return {} end
  return { started_at or '', done or '0', redis.call('LRANGE', key('loadSamples', target), 0, -1) }
end
