-- Deletes a group: writes its tombstone, removes it from the indexes, removes its members and itself from parent groups, and
-- marks every resource that changed.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { id, expected (version that the client knows; absent: any version), now, request, targets, rulesReadGroups,
--        events (lua/events.lua; absent: none), most }
--      rulesReadGroups: mapping rules read the groups of users, so the former members are marked too
--      most: a group with more members is not deleted, because the script would block Redis for too long
-- RETURN {"removed", version} | {"stale"}: another version | {"missing"} | {"many"}: the caller removes its members first
-- NEEDS keys (EDIT, key, p), entries (entries_of), group_versions (raise_version), guard (note_deleted), indexes (drop_entries)
-- NEEDS marks (mark), memberships (leave_all, member_count), records (parse), references (remove_unresolved)
-- NEEDS synced (reset_synced_of_changed_targets)
local stored = redis.call('HGET', key('groups'), p.id)
if not stored then return { 'missing' } end
local record = parse(stored)
local is_stale = p.expected and record.version ~= p.expected
if is_stale then return { 'stale' } end
if member_count(p.id) > p.most then return { 'many' } end

-- Removes the group from its parent groups: they hold its id as a member value without a user (`unresolved`).
local function leave_parents()
  for _, reference in ipairs(redis.call('SMEMBERS', key('references', p.id))) do
    local parent, value = string.match(reference, '^(%S+) (.*)$')
    -- A value that differs from the id only in letter case is listed here too. It may mean a user, so it stays.
    if value == p.id and remove_unresolved(parent, value) then
      raise_version(parent)
      mark('Group:' .. parent, EDIT)
    end
  end
end

reset_synced_of_changed_targets()
redis.call('HDEL', key('groups'), p.id)
redis.call('HDEL', key('groupNames'), p.id)
redis.call('ZREM', key('order', 'Group'), p.id)
drop_entries(entries_of(record), p.id)
note_deleted('Group', p.id)
redis.call('HSET', key('tombstones'), p.id, cjson.encode({ kind = 'Group', version = record.version, deletedAt = p.now }))
leave_all(p.id, redis.call('SMEMBERS', key('members', p.id)))
for _, value in ipairs(redis.call('HKEYS', key('unresolved', p.id))) do remove_unresolved(p.id, value) end
leave_parents()
if p.events then
  -- Included only here, because few connections have receivers of events.
  -- NEEDS events (emit_event)
  emit_event('Group', p.id, record, { what = 'delete' })
end
mark('Group:' .. p.id, EDIT)
return { 'removed', record.version }
