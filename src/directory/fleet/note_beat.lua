-- Stores the beat of one process, its sign of life every five seconds. Removes processes that were silent for too long, and
-- silent ones that this process replaces. `processes` has the last beat of each process, `lastBeats` that of each duty. A beat
-- is its time in Unix milliseconds, a space, and the facts of the process as JSON.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { id (of the process), duties (of this process, such as worker: fleet-store.ts),
--        silentMs (a process without a beat for this time counts as silent), forgetMs (and is removed after this time),
--        most (number of stored processes) }, then the facts of the process as JSON (ProcessFacts in fleet-store.ts)
-- RETURN {"noted"} | {"differ"}: noted, and another process has other rules | {"full"}: too many other processes are stored
-- NEEDS keys (clock, key, p, texts)
local processes, now = key('processes'), clock()
local stored, own_facts = string.format('%d %s', now, texts[1]), cjson.decode(texts[1])
for _, duty in ipairs(p.duties) do redis.call('HSET', key('lastBeats'), duty, stored) end

-- differ: { versions, settings }: whether a process that is not silent has another version, or announces other settings (`rules`,
-- announced-rules.ts), than this one. others: number of other processes that stay stored.
local found, others, differ = redis.call('HGETALL', processes), 0, {}
for index = 1, #found, 2 do
  local id, beat = found[index], found[index + 1]
  if id ~= p.id then
    local at, text = string.match(beat, '^(%d+) (.*)$')
    local silent_ms, facts = now - tonumber(at), cjson.decode(text)
    local is_silent = silent_ms > p.silentMs
    -- A restarted process has a new id, and the same address and role.
    local is_replaced = is_silent and facts.host == own_facts.host and facts.port == own_facts.port
      and facts.role == own_facts.role
    local is_forgotten = silent_ms > p.forgetMs
    if is_replaced or is_forgotten then
      redis.call('HDEL', processes, id)
    else
      others = others + 1
      differ.versions = differ.versions or (not is_silent and facts.version ~= own_facts.version)
      differ.settings = differ.settings or (not is_silent and facts.rules ~= own_facts.rules)
    end
  end
end
-- `versionsDifferSince` and `settingsDifferSince` have the time since which the processes differ.
for _, subject in ipairs({ 'versions', 'settings' }) do
  local since = key(subject .. 'DifferSince')
  if differ[subject] then
    redis.call('SET', since, string.format('%d', now), 'NX')
  else
    redis.call('DEL', since)
  end
end
if others >= p.most then return { 'full' } end
redis.call('HSET', processes, p.id, stored)
return { differ.settings and 'differ' or 'noted' }
