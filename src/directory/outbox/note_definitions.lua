-- Stores the ids of the attribute definitions under which a sync is about to write (known-definitions.ts). A definition with
-- another id than the stored one has lost its values: it is stored as ''.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, ids (name of the attribute → id of its definition) }
-- RETURN {"noted"}
-- NEEDS keys (key, p)
local known = key('definitions', p.target)
for name, id in pairs(p.ids) do
  local stored = redis.call('HGET', known, name)
  if stored ~= id then redis.call('HSET', known, name, stored and '' or id) end
end
return { 'noted' }
