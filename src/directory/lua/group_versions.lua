-- Increases versions of groups.
-- NEEDS keys (key, p), records (parse, store)

-- Increases the version of a stored group whose members changed, and emits the event; the stored text has no members, so it
-- stays the same.
local function raise_version(group)
  local stored = redis.call('HGET', key('groups'), group)
  if not stored then return end
  local record = parse(stored)
  record.version = record.version + 1
  store('groups', group, record)
  if p.events then
    -- NEEDS events (emit_event)
    emit_event('Group', group, record, { text = record.text, method = 'patch', members = true })
  end
end
