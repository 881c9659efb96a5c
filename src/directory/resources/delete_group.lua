-- Deletes a group: writes the tombstone, frees its names, makes the removal of all members pending, and marks them.
-- KEYS base
-- ARGV { id, expected (absent: any version), now, request, targets, groupsMatter, most (members) }
-- RETURN {"removed", version} | {"stale"} | {"missing"} | {"many"}: its members have to leave it first
-- NEEDS guard, references
local stored = redis.call('HGET', key('groups'), p.id)
if not stored then return { 'missing' } end
local record = parse(stored)
if p.expected and record.version ~= p.expected then return { 'stale' } end
if member_count(p.id) > p.most then return { 'many' } end

-- Removes the group from its parent groups, where it is a member value without a user.
local function leave_parents()
  for _, reference in ipairs(redis.call('SMEMBERS', key('references', p.id))) do
    local parent, value = string.match(reference, '^(%S+) (.*)$')
    if value == p.id and unawait(parent, value) then
      bump('groups', parent)
      mark('Group:' .. parent, 1)
    end
  end
end

heed_targets()
redis.call('HDEL', key('groups'), p.id)
redis.call('HDEL', key('groupNames'), p.id)
redis.call('ZREM', key('order', 'Group'), p.id)
drop_entries(entries_of(record), p.id)
note_gone('Group', p.id)
redis.call('HSET', key('tombstones'), p.id, cjson.encode({ kind = 'Group', version = record.version, deletedAt = p.now }))
part_all(p.id, redis.call('SMEMBERS', key('members', p.id)))
for _, value in ipairs(redis.call('HKEYS', key('unresolved', p.id))) do unawait(p.id, value) end
leave_parents()
if p.events then
  -- NEEDS events
  emit_event('Group', p.id, record, { what = 'delete' })
end
mark('Group:' .. p.id, 1)
return { 'removed', record.version }
