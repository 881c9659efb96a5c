-- Proves one portion of an index, of an order, or of the names of groups: each entry leads to a record that has it.
-- KEYS base
-- ARGV { family, kind, cursor, count, repair }
-- RETURN as prove_records.lua
-- NEEDS indexes, proof
local is_order, is_name = string.sub(p.family, 1, 6) == 'order:', p.family == 'groupNames'
local reply = redis.call(is_order and 'ZSCAN' or 'HSCAN', key(p.family), p.cursor, 'COUNT', p.count)

local function prove_member(id, drop)
  if redis.call('HEXISTS', key(RECORDS[p.kind]), id) == 0 then fault(p.family, 'surplus', p.kind .. ':' .. id, drop) end
end

-- The index entries of a damaged record are kept, because they cannot be compared with it.
local function prove_value(value, holders)
  local seen, kept, is_wrong = {}, {}, nil
  for id in string.gmatch(holders, '[^,]+') do
    local record = sound_record(p.kind, id)
    local stands = not seen[id] and (record == nil or record and has_entry(record, p.family, value))
    if stands then kept[#kept + 1] = id else is_wrong = id end
    seen[id] = true
  end
  if not is_wrong and #kept > 0 then return end
  fault(p.family, 'surplus', p.kind .. ':' .. (is_wrong or ''), function()
    if #kept == 0 then return redis.call('HDEL', key(p.family), value) end
    redis.call('HSET', key(p.family), value, table.concat(kept, ','))
  end, value)
end

for index = 1, #reply[2], 2 do
  local name, content = reply[2][index], reply[2][index + 1]
  if is_order then
    prove_member(name, function() redis.call('ZREM', key(p.family), name) end)
  elseif is_name then
    prove_member(name, function() redis.call('HDEL', key(p.family), name) end)
  else
    prove_value(name, content)
  end
end
return proved(reply[1], #reply[2] / 2)
