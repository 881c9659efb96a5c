-- Stores a user that is there with its indexes, heals references that waited for it and leaves a dirty mark, in one step.
-- KEYS base
-- ARGV { id, expected (absent: whatever is there), now, request, targets, groupsMatter, active,
--        lane (overrules the one that follows from what happens),
--        values: [[name, JSON], ...] of plain core attributes, for those that are there; then without active },
--      text, entries as JSON: [[short family, value], ...]; both absent where there are values
-- RETURN 'stored|unchanged version created modified groups', these as JSON [group, displayName, ...] or nothing, and where
--        there are values the text in a second line |
--        'taken family id', that of the holder | 'stale' | 'missing' | 'absent': one of the attributes has no value
local text, entries = texts[1], texts[2]
local stored = redis.call('HGET', key('users'), p.id)
if not stored then return 'missing' end
local record = parse(stored)
if p.expected and record.version ~= p.expected then return 'stale' end

-- A quote within a text has a backslash before it, so `"name":` is a key wherever it stands. Extensions come last, and their
-- keys are URNs, as the values of `schemas` are, which come first.
local function replace_value(name, value)
  local from, to = string.find(text, '"' .. name .. '":', 1, true)
  local extension = string.find(text, ',"urn:', string.find(text, ']', 1, true) or 1, true)
  if not from or (extension and extension < from) then return false end
  local last
  for _, pattern in ipairs({ '^"[^"\\]*"', '^true', '^false' }) do
    if not last then _, last = string.find(text, pattern, to + 1) end
  end
  if not last then return false end
  text = string.sub(text, 1, to) .. value .. string.sub(text, last + 1)
  return true
end
local function outcome(tag, modified, groups)
  local line = table.concat({ tag, record.version, record.created, modified, groups }, ' ')
  return p.values and line .. '\n' .. text or line
end

if p.values then
  text, entries, p.active = record.text, record.entries, record.state ~= 'inactive'
  for _, value in ipairs(p.values) do
    if not replace_value(value[1], value[2]) then return 'absent' end
    if value[1] == 'active' then p.active = value[2] == 'true' end
  end
elseif not writes_short() then
  entries = long_entries(entries)
end
if record.text == text then return outcome('unchanged', record.modified, named_groups_of(p.id, {})) end

if entries ~= record.entries then
  local wanted = cjson.decode(entries)
  local family, holder = holder_of_another(wanted, p.id)
  if family then return table.concat({ 'taken', family, holder }, ' ') end
  drop_entries(cjson.decode(record.entries), p.id)
  add_entries(wanted, p.id)
  heal(p.id, wanted)
end
local lane = 1
if record.state ~= 'inactive' and not p.active then lane = 0 end
local before, state = record.text, record.state
record.version, record.entries, record.text = record.version + 1, entries, text
record.state = p.active and 'active' or 'inactive'
store('users', p.id, record)
if tell then tell('User', p.id, record, { text = before, state = state }) end
mark('User:' .. p.id, p.lane or lane)
return outcome('stored', p.now, named_groups_of(p.id, {}))
