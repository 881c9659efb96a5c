-- Deletes the link of a resource to a platform id, and marks the resource, so that its next sync looks the account or group up.
-- `key`: keys.lua.
-- NEEDS exceptions, links, marks

-- Returns whether the resource was linked to this platform id; if not, nothing is deleted. Reads p.targets and p.request.
local function forget_link(target, ref, platform_id)
  local link = redis.call('HGET', key('links', target), ref)
  if not link or cjson.decode(link).id ~= platform_id then return false end
  redis.call('HDEL', key('links', target), ref)
  -- Ends the lease of a running sync of this ref, because that sync would store the link again.
  redis.call('DEL', key('lease', target .. ':' .. ref))
  set_exception(target, ref) -- without a reason: ends its exception
  unlink(target, string.match(ref, '^(%a+)') .. ':' .. platform_id, ref)
  mark(ref, EDIT)
  return true
end
