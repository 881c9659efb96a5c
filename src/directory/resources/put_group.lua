-- Stores a group and changes its members, with indexes and marks, for a create, a PUT or a PATCH.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { id, expected (version that the client knows; 0: must not exist; absent: any version), now, request, targets, priority,
--        rulesReadGroups (mapping rules read the groups of users: members of a renamed group are marked too),
--        events (lua/events.lua; absent: none), displayName, entries: [[family, value]] (lua/entries.lua),
--        steps: [{ kind: add|remove|replace, values (member values) }] (lua/member_steps.lua), folded (lua/resolve.lua),
--        most (the members of a larger group are not replaced or marked by one script),
--        more (other portions of this change follow) },
--        then the text. Without a text the stored text is kept, and displayName and entries are absent.
-- RETURN 'stored|unchanged version created modified' | 'taken family id', with the id of the holder |
--        'stale': another version | 'missing' | 'many': nothing was changed, because the group has too many members for one
--        script. 'stored' follows 'renamed ' when mark_renamed.lua has to mark the members.
-- STEPS  1. Refuse, before anything is written; a taken name too.
--        2. Write index entries and name; mark the members of a renamed group.
--        3. Change the members (`apply_step`).
--        4. If text or members changed: store the record with its next version, and add the event.
--        5. Mark the group.
-- NEEDS keys (clock, EDIT, key, p, texts), entries (entries_of), heads (is_sound)
-- NEEDS indexes (add_entries, drop_entries, holder_of_another), marks (mark), member_steps (apply_step, net)
-- NEEDS memberships (member_count), numbers (next_number), records (parse, store), renamed (note_renamed)
-- NEEDS synced (reset_synced_of_changed_targets)

-- Delay of the mark while further portions follow; afterwards an incomplete change is synced too.
local MORE_FOLLOWS_MS = 5000
local stored, text = redis.call('HGET', key('groups'), p.id), texts[1]
local is_create = p.expected == 0
if not stored and not is_create then return 'missing' end
-- The fillers of a new group ('' and 'new') are replaced below, before the record is stored.
local record = stored and parse(stored) or { version = 0, created = p.now, entries = '', state = 'new' }
local is_stale = p.expected and record.version ~= p.expected
if is_stale then return 'stale' end
for _, step in ipairs(p.steps) do
  if step.kind == 'replace' and member_count(p.id) > p.most then return 'many' end
end

local is_first = record.version == 0
-- before: the stored text; tag: start of the reply, '' or 'renamed '.
local before, changed, tag = record.text, false, ''
-- A damaged record is written again, even with the same text.
local has_new_text = text and (text ~= record.text or not is_sound(record, stored, #stored - #record.text + 1))
if has_new_text then
  local entries = cjson.encode(p.entries)
  if entries ~= record.entries then
    local family, holder = holder_of_another(p.entries, p.id)
    if family then return table.concat({ 'taken', family, holder }, ' ') end
    if not is_first then drop_entries(entries_of(record), p.id) end
    add_entries(p.entries, p.id)
  end
  local is_renamed = not is_first and redis.call('HGET', key('groupNames'), p.id) ~= p.displayName
  redis.call('HSET', key('groupNames'), p.id, p.displayName)
  if is_renamed and p.rulesReadGroups then
    if member_count(p.id) > p.most then
      note_renamed(p.id)
      tag = 'renamed '
    else
      for _, user in ipairs(redis.call('SMEMBERS', key('members', p.id))) do mark('User:' .. user, EDIT) end
    end
  end
  if is_first then redis.call('ZADD', key('order', 'Group'), next_number(), p.id) end
  record.entries, record.text, record.state, changed = entries, text, 'active', true
  record.checksum = nil -- so that `written` computes it anew
end

for _, step in ipairs(p.steps) do apply_step(step.kind, step.values) end

local members_changed = false
for _, sum in pairs(net) do members_changed = members_changed or sum ~= 0 end
changed = changed or members_changed
if changed then
  record.version, record.modified = record.version + 1, p.now
  store('groups', p.id, record)
  if p.events then
    -- NEEDS events (emit_event)
    emit_event('Group', p.id, record, { text = before, members = members_changed })
  end
end
reset_synced_of_changed_targets()
-- Steps that cancel each other leave pending memberships too (`net` names the members), so the group is marked for them.
if changed or next(net) then mark('Group:' .. p.id, p.priority, p.more and clock() + MORE_FOLLOWS_MS) end
tag = tag .. (changed and 'stored' or 'unchanged')
return table.concat({ tag, record.version, record.created, record.modified }, ' ')
