-- Stores the beat of one process, and removes processes that were silent for too long or whose place another one took.
-- KEYS base
-- ARGV { id, duties (of this process), silentMs, forgetMs, most (number of stored processes) }, then the process as JSON
-- RETURN {"noted"} | {"full"}
local processes, now = key('processes'), clock()
local stored, own = string.format('%d %s', now, texts[1]), cjson.decode(texts[1])
if redis.call('HEXISTS', processes, p.id) == 0 and redis.call('HLEN', processes) >= p.most then return { 'full' } end
redis.call('HSET', processes, p.id, stored)
for _, duty in ipairs(p.duties) do redis.call('HSET', key('lastBeats'), duty, stored) end

local found, differ = redis.call('HGETALL', processes), false
for index = 1, #found, 2 do
  local at, text = string.match(found[index + 1], '^(%d+) (.*)$')
  local silent_ms, other = now - tonumber(at), cjson.decode(text)
  if silent_ms <= p.silentMs then
    differ = differ or other.version ~= own.version
  elseif silent_ms > p.forgetMs
    or (other.host == own.host and other.port == own.port and other.role == own.role) then
    redis.call('HDEL', processes, found[index])
  end
end
if differ then
  redis.call('SET', key('versionsDifferSince'), string.format('%d', now), 'NX')
else
  redis.call('DEL', key('versionsDifferSince'))
end
return { 'noted' }
