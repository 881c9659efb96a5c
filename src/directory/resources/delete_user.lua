-- Deletes a user: writes the tombstone, frees its names, removes it from every group, and marks all changed resources.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { id, expected (version that the client knows; absent: any version), now, request, targets, rulesReadGroups (ignored),
--        events (lua/events.lua; absent: none) }
-- RETURN {"removed", version} | {"stale"}: another version | {"missing"}
-- NEEDS keys (DEACTIVATION, EDIT, key, p), entries (entries_of), group_versions (raise_version), groups (groups_of)
-- NEEDS guard (note_deleted), indexes (drop_entries), marks (mark), memberships (leave_groups), records (parse)
-- NEEDS synced (reset_synced_of_changed_targets)
local stored = redis.call('HGET', key('users'), p.id)
if not stored then return { 'missing' } end
local record = parse(stored)
local is_stale = p.expected and record.version ~= p.expected
if is_stale then return { 'stale' } end

reset_synced_of_changed_targets()
redis.call('HDEL', key('users'), p.id)
redis.call('ZREM', key('order', 'User'), p.id)
drop_entries(entries_of(record), p.id)
note_deleted('User', p.id)
redis.call('HSET', key('tombstones'), p.id, cjson.encode({ kind = 'User', version = record.version, deletedAt = p.now }))
if p.events then
  -- NEEDS events (emit_event)
  emit_event('User', p.id, record, { what = 'delete' })
end
-- The user is marked below with a higher priority, so `leave_groups` need not mark it.
p.rulesReadGroups = false
for _, group in ipairs(leave_groups(p.id, groups_of(p.id))) do
  raise_version(group)
  mark('Group:' .. group, EDIT)
end
mark('User:' .. p.id, DEACTIVATION)
return { 'removed', record.version }
