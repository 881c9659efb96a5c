-- Parses and writes records. A stored record is its head, a line break, and its text, the SCIM resource as JSON. The head is
-- 'version created modified state checksum entries': times in Unix milliseconds; state `active` or `inactive` (a group is
-- always `active`); entries, the index entries as JSON (entries.lua), so that a writer knows which entries to remove without
-- decoding the text. The checksum, the first 12 hex digits of a SHA-1 over state, entries and text (records.ts computes the
-- same), shows a damaged record.
-- NEEDS keys (p)

-- Returns the fields of a record and the position of its text, which is long and is copied only when needed. A record that
-- cannot be parsed gets the state 'damaged', the time `p.now`, no index entries, and the wrong checksum '-'.
local function parse_head(stored)
  local version, created, modified, state, checksum, entries_at = string.match(stored, '^(%d+) (%d+) (%d+) (%S+) (%x+) ()')
  local line_end = entries_at and string.find(stored, '\n', entries_at, true)
  if not line_end then
    local known = tonumber(string.match(stored, '^%d+')) or 0
    return { version = known, created = p.now, modified = p.now, state = 'damaged', checksum = '-', entries = '[]' },
      #stored + 1
  end
  local entries = string.sub(stored, entries_at, line_end - 1)
  return { version = tonumber(version), created = created, modified = modified, state = state, checksum = checksum,
    entries = entries }, line_end + 1
end

-- Returns the checksum of a record, whose text is given in three parts.
local function checksum_of(state, entries, text, middle, tail)
  return string.sub(redis.sha1hex(state .. ' ' .. entries .. '\n' .. text .. middle .. tail), 1, 12)
end

-- Returns whether the checksum of a record is correct; `at`: position of its text.
local function is_sound(record, stored, at)
  return record.checksum == checksum_of(record.state, record.entries, string.sub(stored, at), '', '')
end

-- Returns the stored form of a record, changed at `p.now`; its text may be given in three parts. A caller that changes text,
-- state or entries clears the checksum, which is then computed. Otherwise the old checksum stays, so that a damaged record is
-- recognised.
local function written(record, text, middle, tail)
  middle, tail = middle or '', tail or ''
  local checksum = record.checksum or checksum_of(record.state, record.entries, text, middle, tail)
  return string.format('%d', record.version) .. ' ' .. record.created .. ' ' .. p.now .. ' ' .. record.state .. ' '
    .. checksum .. ' ' .. record.entries .. '\n' .. text .. middle .. tail
end
