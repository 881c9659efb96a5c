-- The way back from a platform id is `ref`, or `ref print`: see drift.ts.
local function holder_of_way(target, way)
  local held = redis.call('HGET', key('linked', target), way)
  return held and string.match(held, '^%S+'), held
end

-- The link is written: how its account looked when it was equal to the link says nothing any more.
local function forget_print(target, way, ref)
  local holder, held = holder_of_way(target, way)
  if holder == ref and held ~= ref then redis.call('HSET', key('linked', target), way, ref) end
end

-- The same at the end of a sync. A way that was lost is there again; one that leads to another resource stays.
local function keep_way(target, way, ref)
  local holder = holder_of_way(target, way)
  if not holder then return redis.call('HSET', key('linked', target), way, ref) end
  forget_print(target, way, ref)
end

-- The way back from a platform id belongs to whoever holds it now.
local function unlink(target, platform, ref)
  if holder_of_way(target, platform) == ref then redis.call('HDEL', key('linked', target), platform) end
end

-- The worker has noted in the link what was doubted; a newer note stays for the next look.
local function clear_doubts(target, ref, read)
  if read and redis.call('HGET', key('doubts', target), ref) == read then redis.call('HDEL', key('doubts', target), ref) end
end
