-- A stored record: 'version created modified state entries', a line break, the text. `entries` are the index entries
-- of the record as JSON, so that a writer need not read the old resource to know which of them go.
-- Answers all but the text, and where it begins: it is long, so who does not need it does not take it out.
local function parse_head(stored)
  local version, created, modified, state, from = string.match(stored, '^(%d+) (%d+) (%d+) (%S+) ()')
  local line_end = string.find(stored, '\n', from, true)
  local entries = string.sub(stored, from, line_end - 1)
  return { version = tonumber(version), created = created, modified = modified, state = state, entries = entries },
    line_end + 1
end

-- A record as it is written now. Of a text in three parts no other is made than what is stored.
local function written(record, text, middle, tail)
  return string.format('%d', record.version) .. ' ' .. record.created .. ' ' .. p.now .. ' ' .. record.state .. ' '
    .. record.entries .. '\n' .. text .. (middle or '') .. (tail or '')
end
