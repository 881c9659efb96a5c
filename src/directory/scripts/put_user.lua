-- Stores a user that is there with its indexes, heals references that waited for it and leaves a dirty mark, in one step.
-- KEYS base
-- ARGV { id, expected (absent: whatever is there), now, request, targets, groupsMatter, active,
--        lane (overrules the one that follows from what happens) }, text, entries as JSON: [[short family, value], ...]
-- RETURN 'stored|unchanged version created modified groups', these as JSON [group, displayName, ...] or nothing |
--        'taken family id', that of the holder | 'stale' | 'missing'
local text, entries = texts[1], texts[2]
local stored = redis.call('HGET', key('users'), p.id)
if not stored then return 'missing' end
local record, at = parse_head(stored)
if p.expected and record.version ~= p.expected then return 'stale' end
if not writes_short() then entries = long_entries(entries) end

local function outcome(tag, modified)
  return table.concat({ tag, record.version, record.created, modified, named_groups_of(p.id) }, ' ')
end
if #text == #stored - at + 1 and string.find(stored, text, at, true) then return outcome('unchanged', record.modified) end

if entries ~= record.entries then
  local wanted = cjson.decode(entries)
  local family, holder = holder_of_another(wanted, p.id)
  if family then return table.concat({ 'taken', family, holder }, ' ') end
  drop_entries(cjson.decode(record.entries), p.id)
  add_entries(wanted, p.id)
  heal(p.id, wanted)
end
local state = p.active and 'active' or 'inactive'
local lane = record.state ~= 'inactive' and state == 'inactive' and 0 or 1
local was = tell and { text = string.sub(stored, at), state = record.state }
record.version, record.entries, record.text, record.state = record.version + 1, entries, text, state
store('users', p.id, record)
if tell then tell('User', p.id, record, was) end
mark('User:' .. p.id, p.lane or lane)
return outcome('stored', p.now)
