-- Records as a whole: who knows the text already is better served by the head alone.
-- NEEDS heads
local function parse(stored)
  local record, at = parse_head(stored)
  record.text = string.sub(stored, at)
  return record
end

local function store(family, id, record)
  redis.call('HSET', key(family), id, written(record, record.text))
end
