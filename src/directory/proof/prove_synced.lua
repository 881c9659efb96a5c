-- Proves one portion of the `synced` set, the resources that brief scans skip (lua/synced.lua): each is stored, has no mark,
-- and is synced (lua/link_states.lua).
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, kind, rulesReadGroups (lua/basis.lua), cursor, count, repair (whether faults are repaired) }
-- RETURN {"proved", next cursor, entries checked, [faults: prove_records.lua]}. lua/proof.lua: `fault` notes one, `proved` replies
-- NEEDS keys (key, p), link_states (settled_state), proof (fault, proved, RECORDS), synced (name_synced)
local name = name_synced(p.target, p.kind)
local next_cursor, synced_ids = unpack(redis.call('SSCAN', name, p.cursor, 'COUNT', p.count))

-- Returns whether a resource is stored, has no mark, and is synced: then settled_state returns nil.
local function is_synced(id)
  local ref, stored = p.kind .. ':' .. id, redis.call('HGET', key(RECORDS[p.kind]), id)
  if not stored or redis.call('HEXISTS', key('marks', p.target), ref) == 1 then return false end
  local link = redis.call('HGET', key('links', p.target), ref)
  return settled_state(p.target, p.kind, id, stored, link, p.rulesReadGroups) == nil
end

for _, id in ipairs(synced_ids) do
  if not is_synced(id) then
    fault('synced', 'surplus', p.kind .. ':' .. id, function() redis.call('SREM', name, id) end)
  end
end
return proved(next_cursor, #synced_ids)
