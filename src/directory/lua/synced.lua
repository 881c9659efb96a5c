-- `synced:<target>:<kind>` holds the ids of resources that are in line with their link: a sync or a scan found them so, and
-- every mark takes its id out. A scan reads the records and links of the others only (ADR 0021).
local function name_synced(target, kind) return key('synced', target .. ':' .. kind) end

local function leave_synced(target, ref)
  local kind, id = string.match(ref, '^(%a+):(.*)$')
  redis.call('SREM', name_synced(target, kind), id)
end

-- Each store marks the targets of its process. If the list of targets changed, a resource may have changed without a mark at
-- a target outside of the list, so the `synced` sets of all targets of both lists are deleted.
local function heed_targets()
  local listed = table.concat(p.targets, ' ')
  local before = redis.call('GET', key('syncedTargets'))
  if before == listed then return end
  redis.call('SET', key('syncedTargets'), listed)
  for target in string.gmatch((before or '') .. ' ' .. listed, '%S+') do
    redis.call('DEL', name_synced(target, 'User'), name_synced(target, 'Group'))
  end
end
