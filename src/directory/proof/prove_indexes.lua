-- Proves one portion of an index, of an order (`order:User`, `order:Group`: ids by creation), or of the names of groups: each
-- entry has a record that it belongs to.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { family (of an index (lua/entries.lua), order:User, order:Group or groupNames), kind, cursor, count,
--        repair (whether faults are repaired) }
-- RETURN {"proved", next cursor, entries checked, [faults: prove_records.lua]}. lua/proof.lua: `fault` notes one, `proved` replies
-- NEEDS keys (key, p), proof (fault, has_entry, proved, RECORDS, sound_record)
local is_order, is_name = string.sub(p.family, 1, 6) == 'order:', p.family == 'groupNames'
local next_cursor, entries = unpack(redis.call(is_order and 'ZSCAN' or 'HSCAN', key(p.family), p.cursor, 'COUNT', p.count))

-- Proves an entry of an order or of the names of groups: the id has a record. `drop` removes the entry.
local function prove_id(id, drop)
  if redis.call('HEXISTS', key(RECORDS[p.kind]), id) == 0 then fault(p.family, 'surplus', p.kind .. ':' .. id, drop) end
end

-- Proves an index entry: each holder (ids joined by commas) has a record with this value. The entries of a damaged record are
-- kept, because they cannot be compared with it.
local function prove_value(value, holders)
  local seen, right_ids, wrong_id = {}, {}, nil
  for id in string.gmatch(holders, '[^,]+') do
    local record = sound_record(p.kind, id)
    local is_damaged = record == nil -- without a record, sound_record returns false
    local is_right = not seen[id] and (is_damaged or record and has_entry(record, p.family, value))
    if is_right then right_ids[#right_ids + 1] = id else wrong_id = id end
    seen[id] = true
  end
  local has_no_fault = not wrong_id and #right_ids > 0
  if has_no_fault then return end
  fault(p.family, 'surplus', p.kind .. ':' .. (wrong_id or ''), function()
    if #right_ids == 0 then return redis.call('HDEL', key(p.family), value) end
    redis.call('HSET', key(p.family), value, table.concat(right_ids, ','))
  end, value)
end

for index = 1, #entries, 2 do
  local name, content = entries[index], entries[index + 1]
  if is_order then
    prove_id(name, function() redis.call('ZREM', key(p.family), name) end)
  elseif is_name then
    prove_id(name, function() redis.call('HDEL', key(p.family), name) end)
  else
    prove_value(name, content)
  end
end
return proved(next_cursor, #entries / 2)
