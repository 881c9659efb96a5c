-- `synced:<target>:<kind>` holds the ids of synced resources: the link has the basis of the record (basis.lua), and nothing
-- waits to be written. A sync or a scan adds an id, and every mark takes its id out. A brief scan reads the records and links
-- of the other resources only (ADR 0021).
-- NEEDS keys (key, p)

-- Returns the key of the set.
local function name_synced(target, kind) return key('synced', target .. ':' .. kind) end

-- Takes a ref out of the set, because it was marked.
local function leave_synced(target, ref)
  local kind, id = string.match(ref, '^(%a+):(.*)$')
  redis.call('SREM', name_synced(target, kind), id)
end

-- A push marks its resource at the targets that its process knows (`p.targets`). If this list differs from that of the last push, a
-- push may have left no mark at a target of the other list, so the `synced` sets of both lists are deleted. `syncedTargets` has the
-- list of the last change, joined by spaces.
local function reset_synced_of_changed_targets()
  local listed = table.concat(p.targets, ' ')
  local before = redis.call('GET', key('syncedTargets'))
  if before == listed then return end
  redis.call('SET', key('syncedTargets'), listed)
  for target in string.gmatch((before or '') .. ' ' .. listed, '%S+') do
    redis.call('DEL', name_synced(target, 'User'), name_synced(target, 'Group'))
  end
end
