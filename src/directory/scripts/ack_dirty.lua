-- Ends a sync: stores the link, gives the lease back and clears the mark only if its generation is unchanged.
-- KEYS base
-- ARGV { target, ref, kind, id, fence, generation, outcome: synced|blocked|later, delayMs, lane,
--        forget (the platform id that is ours no more), dropOwed (nothing is to be granted to this user) }, link
-- RETURN {"cleared", milliseconds since the oldest change was accepted} | {"kept"} | {"changed"} | {"fenced"}
local lease = key('lease', p.target .. ':' .. p.ref)
if redis.call('GET', lease) ~= p.fence then return { 'fenced' } end
local now = clock()
redis.call('DEL', lease)
redis.call('ZREM', key('inflight', p.target), p.ref)
if p.forget then
  redis.call('HDEL', key('links', p.target), p.ref)
  redis.call('HDEL', key('linked', p.target), p.kind .. ':' .. p.forget)
else
  redis.call('HSET', key('links', p.target), p.ref, ARGV[2])
end
if p.dropOwed then
  local owed = key('owed', p.target .. ':' .. p.id)
  for _, group in ipairs(redis.call('HKEYS', owed)) do
    if redis.call('HGET', owed, group) == '+' then
      redis.call('HDEL', owed, group)
      redis.call('HDEL', key('memberMarks', p.target .. ':' .. group), p.id)
    end
  end
end

local marks, dirty = key('marks', p.target), key('dirty', p.target)
local held = redis.call('HGET', marks, p.ref)
local generation, since = string.match(held or '', '^(%d+) (%d+)')
if generation ~= p.generation then
  redis.call('ZADD', dirty, 'LT', p.lane * SPAN + now, p.ref)
  redis.call('PUBLISH', base .. 'marked', p.target)
  return { 'changed' }
end
if p.outcome == 'later' then
  -- An earlier due time in there is a wake-up that came while we worked: it stands.
  redis.call('ZADD', dirty, 'LT', p.lane * SPAN + now + p.delayMs, p.ref)
  redis.call('PUBLISH', base .. 'marked', p.target)
  return { 'kept' }
end
redis.call('HDEL', marks, p.ref)
redis.call('ZREM', dirty, p.ref)
if p.outcome == 'blocked' then redis.call('ZADD', key('blocked', p.target), now, p.ref) end
return { 'cleared', now - tonumber(since) }
