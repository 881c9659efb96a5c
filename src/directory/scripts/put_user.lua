-- Stores a user with its indexes, heals references that waited for it and leaves a dirty mark, in one step.
-- KEYS base
-- ARGV { id, expected, now, request, targets, lane, groupsMatter, unique: [[attribute, family, value]],
--        drop: [[family, value]], emails, dropEmails, waitedFor } , text
-- RETURN {"stored", version} | {"taken", attribute, id of the holder} | {"stale"} | {"missing"}
local stored = redis.call('HGET', key('users'), p.id)
local version, created = 0, p.now
if stored then version, created = split(stored) end
if not stored and p.expected > 0 then return { 'missing' } end
if version ~= p.expected then return { 'stale' } end
for _, claim in ipairs(p.unique) do
  local holder = redis.call('HGET', key(claim[2]), claim[3])
  if holder and holder ~= p.id then return { 'taken', claim[1], holder } end
end

store('users', p.id, version + 1, created, ARGV[2])
if version == 0 then redis.call('ZADD', key('order', 'User'), next_number(), p.id) end
for _, index in ipairs(p.drop) do redis.call('HDEL', key(index[1]), index[2]) end
for _, claim in ipairs(p.unique) do redis.call('HSET', key(claim[2]), claim[3], p.id) end
for _, address in ipairs(p.dropEmails) do drop_lookup('emails', address, p.id) end
for _, address in ipairs(p.emails) do add_lookup('emails', address, p.id) end

for _, name in ipairs(p.waitedFor) do
  for _, reference in ipairs(redis.call('SMEMBERS', key('references', name))) do
    local group, value = string.match(reference, '^(%S+) (.*)$')
    if unawait(group, value) and join(group, p.id) then
      bump('groups', group)
      mark('Group:' .. group, 1)
    end
  end
end
mark('User:' .. p.id, p.lane)
return { 'stored', version + 1 }
