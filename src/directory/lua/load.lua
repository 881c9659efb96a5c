-- Measures the progress of a load, a backlog far larger than in normal operation, so that an operator sees its remaining time.
-- `load:<target>` has startedAt and sampledAt (Unix milliseconds). `loadDone:<target>` has the refs whose mark was cleared since
-- the start. `loadSamples:<target>` has samples of the last minute, each 'time done': the number of these refs at that time (Unix
-- milliseconds).
-- NEEDS keys (key)

-- Numbers of marks at which a load begins and ends.
local LOAD_START, LOAD_END = 100, 10
-- Time between two samples, and how many of them are kept.
local SAMPLE_MS, MOST_SAMPLES = 2000, 32

-- Removes the counters of a load.
local function end_load(target)
  redis.call('UNLINK', key('load', target), key('loadDone', target), key('loadSamples', target))
end

-- Notes as done a resource whose mark was cleared; the load ends when at most LOAD_END marks are left. A new mark takes the
-- resource out again (`schedule` in marks.lua), so that a resource with several syncs counts once, such as a group whose members
-- come one by one.
local function note_cleared(target, ref)
  if redis.call('EXISTS', key('load', target)) == 0 then return end
  if redis.call('HLEN', key('marks', target)) <= LOAD_END then return end_load(target) end
  redis.call('SADD', key('loadDone', target), ref)
end

-- Begins a load when LOAD_START resources are marked, and takes a sample of its progress every SAMPLE_MS.
local function sample_load(target, now)
  local state, marked = key('load', target), redis.call('HLEN', key('marks', target))
  -- `false`: the field is absent, so no load is under way.
  local sampled_at = redis.call('HGET', state, 'sampledAt')
  local is_load = sampled_at ~= false
  if not is_load and marked < LOAD_START then return end
  if is_load and marked <= LOAD_END then return end_load(target) end
  if is_load and now - tonumber(sampled_at) < SAMPLE_MS then return end
  if not is_load then redis.call('HSET', state, 'startedAt', string.format('%d', now)) end
  redis.call('HSET', state, 'sampledAt', string.format('%d', now))
  local done = redis.call('SCARD', key('loadDone', target))
  redis.call('LPUSH', key('loadSamples', target), string.format('%d %d', now, done))
  redis.call('LTRIM', key('loadSamples', target), 0, MOST_SAMPLES - 1)
end

-- Returns {} without a load; else { startedAt ('' before the first sample), number of the refs in loadDone, loadSamples with the
-- newest first }, in the forms of the header. Writes nothing.
local function read_load(target)
  local started_at = redis.call('HGET', key('load', target), 'startedAt')
  local marked = redis.call('HLEN', key('marks', target))
  local has_begun = started_at or marked >= LOAD_START
  if not has_begun or marked <= LOAD_END then return {} end
  return { started_at or '', redis.call('SCARD', key('loadDone', target)), redis.call('LRANGE', key('loadSamples', target), 0, -1) }
end
