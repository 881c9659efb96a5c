-- Proves one portion of the records: checksum, index entries, id in `order:<kind>`, and the name of a group in `groupNames`.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { kind, cursor, count, repair (whether faults are repaired) }
-- RETURN {"proved", next cursor, number of records checked, [family, what, ref, 1 (repaired) or 0,
--        digest of the entry, ...]}; for each fault five values: family, what and ref as lua/proof.lua says
-- NEEDS keys (key, p), entries (entries_of, family_of, LOOKUPS), heads (is_sound, parse_head), indexes (add_lookup)
-- NEEDS numbers (next_number), proof (fault, has_entry, lists, proved, RECORDS, sound_record)
local family = RECORDS[p.kind]
local next_cursor, records = unpack(redis.call('HSCAN', key(family), p.cursor, 'COUNT', p.count))

-- Proves an index entry of a record: the index has the id under the value. The last argument of `fault` names the faulty entry: in
-- an index with several ids, the id and the value; else the value, so that two records with one name count once.
local function prove_entry(id, index, value)
  local indexed, ref = redis.call('HGET', key(index), value), p.kind .. ':' .. id
  -- LOOKUPS: the indexes that have several ids under one value, joined by commas (lua/entries.lua).
  if LOOKUPS[index] then
    local function repair() add_lookup(index, value, id) end
    if not lists(indexed, id) then fault(index, 'missing', ref, repair, id .. ' ' .. value) end
    return
  end
  if indexed == id then return end
  local other = indexed and sound_record(p.kind, indexed)
  -- Two records have the same name: an operator decides which one keeps it.
  if other and has_entry(other, index, value) then return fault(index, 'doubled', ref, nil, value) end
  fault(index, indexed and 'wrong' or 'missing', ref, function() redis.call('HSET', key(index), value, id) end, value)
end

-- Proves the name of a group: `groupNames` has the displayName of the record's text.
local function prove_name(id, text)
  local done, resource = pcall(cjson.decode, text)
  local name = done and type(resource) == 'table' and resource.displayName
  local indexed = redis.call('HGET', key('groupNames'), id)
  local has_name = type(name) == 'string'
  if not has_name or indexed == name then return end
  local function repair() redis.call('HSET', key('groupNames'), id, name) end
  fault('groupNames', indexed and 'wrong' or 'missing', 'Group:' .. id, repair)
end

for index = 1, #records, 2 do
  local id, stored = records[index], records[index + 1]
  local record, at = parse_head(stored)
  if not redis.call('ZSCORE', key('order', p.kind), id) then
    fault('order:' .. p.kind, 'missing', p.kind .. ':' .. id, function()
      redis.call('ZADD', key('order', p.kind), next_number(), id)
    end)
  end
  if not is_sound(record, stored, at) then
    fault(family, 'damaged', p.kind .. ':' .. id)
  else
    for _, entry in ipairs(entries_of(record)) do
      local value = entry[2]
      prove_entry(id, family_of(entry), value)
    end
    if p.kind == 'Group' then prove_name(id, string.sub(stored, at)) end
  end
end
return proved(next_cursor, #records / 2)
