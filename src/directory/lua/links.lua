-- A reverse link is `ref` or `ref print` (drift.ts). Returns its ref if the ref's link still has this platform id.
local function holder_of_way(target, way)
  local held = redis.call('HGET', key('linked', target), way)
  return held and string.match(held, '^%S+'), held
end

-- Removes the fingerprint of an account, because its link was written.
local function forget_print(target, way, ref)
  local holder, held = holder_of_way(target, way)
  if holder == ref and held ~= ref then redis.call('HSET', key('linked', target), way, ref) end
end

-- Removes the fingerprint at the end of a sync, and restores a lost reverse link. A reverse link to another ref is kept.
local function keep_way(target, way, ref)
  local holder = holder_of_way(target, way)
  if not holder then return redis.call('HSET', key('linked', target), way, ref) end
  forget_print(target, way, ref)
end

-- Removes the reverse link of a platform id, unless it belongs to another resource.
local function unlink(target, platform, ref)
  if holder_of_way(target, platform) == ref then redis.call('HDEL', key('linked', target), platform) end
end

-- Removes the suspected drift that the worker has stored in the link; newer notes are kept.
local function clear_suspected_drift(target, ref, read)
  if not read or redis.call('HGET', key('suspectedDrift', target), ref) ~= read then return end
  redis.call('HDEL', key('suspectedDrift', target), ref)
  redis.call('HDEL', key('observedDrift', target), ref)
end
