-- Parses and stores whole records (heads.lua); a caller that needs no text uses heads.lua alone.
-- NEEDS keys (key), heads (parse_head, written)

-- Returns the fields of a record, with its `text`.
local function parse(stored)
  local record, at = parse_head(stored)
  record.text = string.sub(stored, at)
  return record
end

-- Stores a changed record. `family`: users or groups.
local function store(family, id, record)
  redis.call('HSET', key(family), id, written(record, record.text))
end
