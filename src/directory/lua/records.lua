-- Parses whole records; a caller that needs no text uses heads.lua.
-- NEEDS heads
local function parse(stored)
  local record, at = parse_head(stored)
  record.text = string.sub(stored, at)
  return record
end

local function store(family, id, record)
  redis.call('HSET', key(family), id, written(record, record.text))
end
