-- Replaces a stored user with its index entries, adds it to groups that wait for it (lua/references.lua), and marks it. Runs
-- for each call of a batch; lua/together.lua stores and marks the users at the end.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { targets, rulesReadGroups (lua/memberships.lua), events (lua/events.lua; absent: none) }, then id, now, request, the
--      required version (empty: any), and the new record (lua/heads.lua): state, text, entries as JSON (lua/entries.lua)
-- RETURN 'stored|unchanged version created modified groups', with all groups of the user as JSON [id, displayName, ...] or
--        nothing | 'taken family id', with the id of the holder | 'stale' | 'missing'
-- NEEDS keys (DEACTIVATION, EDIT, p, texts), entries (entries_of), heads (is_sound, parse_head, written)
-- NEEDS indexes (add_entries, drop_entries, holder_of_another), outcomes (outcome), together (change_user, field, known)
p.id, p.now, p.request = texts[1], texts[2], texts[3]
local expected, state, text, entries = tonumber(texts[4]), texts[5], texts[6], texts[7]
local stored = field('users', p.id)
if not stored then return 'missing' end
local record, at = parse_head(stored) -- at: place where the text begins in `stored`
local is_stale = expected and record.version ~= expected
if is_stale then return 'stale' end

-- Compared in place, because a copy of the stored text would cost more. A damaged record is written again.
local has_same_text = #text == #stored - at + 1 and string.find(stored, text, at, true)
if has_same_text and is_sound(record, stored, at) then return outcome('unchanged', record, record.modified) end

if entries ~= record.entries then
  -- Included here, so that its code runs only in this branch.
  -- NEEDS references (heal, references_to)
  local wanted = cjson.decode(entries)
  local family, holder = holder_of_another(wanted, p.id)
  if family then return table.concat({ 'taken', family, holder }, ' ') end
  drop_entries(entries_of(record), p.id)
  add_entries(wanted, p.id)
  -- `known` (lua/together.lua) keeps the groups of all users of the batch; read again, they contain the groups added here.
  if heal(p.id, references_to(wanted)) then known.groupsOf = nil end
end
local is_deactivated = record.state ~= 'inactive' and state == 'inactive'
local priority = is_deactivated and DEACTIVATION or EDIT
-- Active at the source again: no deactivation or deletion of the user waits for a decision any more (lua/together.lua).
local is_back = record.state ~= 'active' and state == 'active'
local was = p.events and { text = string.sub(stored, at), state = record.state }
record.version, record.entries, record.text, record.state = record.version + 1, entries, text, state
record.checksum = nil -- so that `written` computes it anew
change_user(p.id, written(record, text), priority, is_back)
if p.events then
  -- Included here, so that its code runs only in this branch.
  -- NEEDS events (emit_event)
  emit_event('User', p.id, record, was)
end
return outcome('stored', record, p.now)
