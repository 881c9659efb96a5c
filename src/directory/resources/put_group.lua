-- Stores a group and changes its members, with indexes and dirty marks.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { id, expected (0: must not exist; absent: any version), now, request, targets, priority,
--        rulesReadGroups (mapping rules read the groups of users: members of a renamed group are marked too),
--        events (lua/events.lua; absent: none), displayName, entries: [[family, value]],
--        steps: [{ kind: add|remove|replace, values }], folded (lua/resolve.lua),
--        most (the members of a larger group are not replaced or marked by one script),
--        more (other portions of this change follow) },
--        then the text. Without a text the stored text is kept, and displayName and entries are absent.
-- RETURN 'stored|unchanged version created modified' | 'taken family id', with the id of the holder |
--        'stale': another version | 'missing' | 'many': nothing was changed, because the group has too many members for one
--        script. 'stored' follows 'renamed ' when mark_renamed.lua has to mark the members.
-- NEEDS member_steps, renamed
-- Delay of the mark while further portions follow; afterwards an incomplete change is synced too.
local MORE_FOLLOWS_MS = 5000
local stored = redis.call('HGET', key('groups'), p.id)
if not stored and p.expected ~= 0 then return 'missing' end
local record = stored and parse(stored) or { version = 0, created = p.now, entries = '', state = 'new' }
if p.expected and record.version ~= p.expected then return 'stale' end
for _, step in ipairs(p.steps) do
  if step.kind == 'replace' and member_count(p.id) > p.most then return 'many' end
end

local before, changed, tag = record.text, false, ''
local is_new = texts[1] and (texts[1] ~= record.text or not is_sound(record, stored, #stored - #record.text + 1))
if is_new then
  local entries = cjson.encode(p.entries)
  if entries ~= record.entries then
    local family, holder = holder_of_another(p.entries, p.id)
    if family then return table.concat({ 'taken', family, holder }, ' ') end
    if record.version > 0 then drop_entries(entries_of(record), p.id) end
    add_entries(p.entries, p.id)
  end
  local renamed = redis.call('HGET', key('groupNames'), p.id) ~= p.displayName
  redis.call('HSET', key('groupNames'), p.id, p.displayName)
  if renamed and p.rulesReadGroups and record.version > 0 then
    if member_count(p.id) > p.most then
      note_renamed(p.id)
      tag = 'renamed '
    else
      for _, user in ipairs(redis.call('SMEMBERS', key('members', p.id))) do mark('User:' .. user, EDIT) end
    end
  end
  if record.version == 0 then redis.call('ZADD', key('order', 'Group'), next_number(), p.id) end
  record.entries, record.text, record.state, changed = entries, texts[1], 'active', true
  record.checksum = nil
end

for _, step in ipairs(p.steps) do apply_step(step.kind, step.values) end

local members_changed = false
for _, sum in pairs(net) do members_changed = members_changed or sum ~= 0 end
changed = changed or members_changed
if changed then
  record.version, record.modified = record.version + 1, p.now
  store('groups', p.id, record)
  if p.events then
    -- NEEDS events
    emit_event('Group', p.id, record, { text = before, members = members_changed })
  end
end
reset_synced_of_changed_targets()
if changed or next(net) then mark('Group:' .. p.id, p.priority, p.more and clock() + MORE_FOLLOWS_MS) end
tag = tag .. (changed and 'stored' or 'unchanged')
return table.concat({ tag, record.version, record.created, record.modified }, ' ')
