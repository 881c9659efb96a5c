-- A stored record: 'version created modified state entries', a line break, the text. `entries` are the index entries
-- of the record as JSON, so that a writer need not read the old resource to know which of them go.
-- Answers all but the text, and where it begins: it is long, so who does not need it does not take it out.
local function parse_head(stored)
  local version, created, modified, state, entries, at =
    string.match(stored, '^(%d+) (%d+) (%d+) (%S+) ([^\n]*)\n()')
  return { version = tonumber(version), created = created, modified = modified, state = state, entries = entries }, at
end

local function parse(stored)
  local record, at = parse_head(stored)
  record.text = string.sub(stored, at)
  return record
end

-- What stands before the text of a record that is written now.
local function head_of(record)
  return record.version .. ' ' .. record.created .. ' ' .. p.now .. ' ' .. record.state .. ' ' .. record.entries .. '\n'
end

local function store(family, id, record)
  redis.call('HSET', key(family), id, head_of(record) .. record.text)
end
