-- Replaces a stored user with its indexes, resolves references that wait for it, and marks it.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { targets, rulesReadGroups (lua/memberships.lua), events (lua/events.lua; absent: none) }, then id, now, request, the
--      required version (empty: any), state, text, entries as JSON: [[short family, value], ...]
-- RETURN 'stored|unchanged version created modified groups', with the groups as JSON [group, displayName, ...] or nothing |
--        'taken family id', with the id of the holder | 'stale' | 'missing'
-- NEEDS heads, outcomes, together
p.id, p.now, p.request = texts[1], texts[2], texts[3]
local expected, state, text, entries = tonumber(texts[4]), texts[5], texts[6], texts[7]
local stored = field('users', p.id)
if not stored then return 'missing' end
local record, at = parse_head(stored)
if expected and record.version ~= expected then return 'stale' end

if #text == #stored - at + 1 and string.find(stored, text, at, true) and is_sound(record, stored, at) then
  return outcome('unchanged', record, record.modified)
end

if entries ~= record.entries then
  -- NEEDS references
  local wanted = cjson.decode(entries)
  local family, holder = holder_of_another(wanted, p.id)
  if family then return table.concat({ 'taken', family, holder }, ' ') end
  drop_entries(entries_of(record), p.id)
  add_entries(wanted, p.id)
  if heal(p.id, references_to(wanted)) then known.groupsOf = nil end
end
local priority = record.state ~= 'inactive' and state == 'inactive' and DEACTIVATION or EDIT
local is_back = record.state ~= 'active' and state == 'active'
local was = p.events and { text = string.sub(stored, at), state = record.state }
record.version, record.entries, record.text, record.state = record.version + 1, entries, text, state
record.checksum = nil
change_user(p.id, written(record, text), priority, is_back)
if p.events then
  -- NEEDS events
  emit_event('User', p.id, record, was)
end
return outcome('stored', record, p.now)
