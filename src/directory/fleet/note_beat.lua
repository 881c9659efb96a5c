-- Stores the beat of one process. Removes processes that were silent for too long, and silent ones that this process
-- replaces.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { id, duties (of this process), silentMs, forgetMs, most (number of stored processes) }, then the facts of the
--      process as JSON (ProcessFacts)
-- RETURN {"noted"} | {"differ"}: noted, and another process has other rules | {"full"}: too many other processes are stored
local processes, now = key('processes'), clock()
local stored, own = string.format('%d %s', now, texts[1]), cjson.decode(texts[1])
for _, duty in ipairs(p.duties) do redis.call('HSET', key('lastBeats'), duty, stored) end

-- Which facts differ between the processes that run.
local found, others, differ = redis.call('HGETALL', processes), 0, {}
for index = 1, #found, 2 do
  if found[index] ~= p.id then
    local at, text = string.match(found[index + 1], '^(%d+) (.*)$')
    local silent_ms, other = now - tonumber(at), cjson.decode(text)
    local is_silent = silent_ms > p.silentMs
    local is_replaced = is_silent and other.host == own.host and other.port == own.port and other.role == own.role
    if is_replaced or silent_ms > p.forgetMs then
      redis.call('HDEL', processes, found[index])
    else
      others = others + 1
      differ.versions = differ.versions or (not is_silent and other.version ~= own.version)
      differ.settings = differ.settings or (not is_silent and other.rules ~= own.rules)
    end
  end
end
for _, facts in ipairs({ 'versions', 'settings' }) do
  local since = key(facts .. 'DifferSince')
  if differ[facts] then
    redis.call('SET', since, string.format('%d', now), 'NX')
  else
    redis.call('DEL', since)
  end
end
if others >= p.most then return { 'full' } end
redis.call('HSET', processes, p.id, stored)
return { differ.settings and 'differ' or 'noted' }
