-- Reads and writes reverse links, and clears suspected drift that a sync has written. The hash `linked:<target>` has under
-- 'kind:platform id' (here `platform_key`) the ref of the linked resource; after the ref a space and a fingerprint may follow, if
-- the account was equal to its link (drift.ts).
-- NEEDS keys (key)

-- Returns the ref and the whole text of a reverse link; false or nil: there is none.
local function ref_linked_to(target, platform_key)
  local stored = redis.call('HGET', key('linked', target), platform_key)
  return stored and string.match(stored, '^%S+'), stored
end

-- Returns the platform id in the link of a resource; nil: the link has none, or is lost or damaged. A reverse link is out of
-- date if the link of the resource that it names has another id.
local function linked_id(target, ref)
  local is_read, link = pcall(cjson.decode, redis.call('HGET', key('links', target), ref) or '')
  return is_read and type(link) == 'table' and link.id or nil
end

-- Removes the fingerprint of an account whose link was written, because the account may differ from the new link.
local function forget_print(target, platform_key, ref)
  local holder, stored = ref_linked_to(target, platform_key)
  local has_print = stored ~= ref
  if holder == ref and has_print then redis.call('HSET', key('linked', target), platform_key, ref) end
end

-- Removes the fingerprint at the end of a sync, and restores a lost reverse link. A reverse link to another ref stays.
local function keep_reverse_link(target, platform_key, ref)
  local holder = ref_linked_to(target, platform_key)
  if not holder then return redis.call('HSET', key('linked', target), platform_key, ref) end
  forget_print(target, platform_key, ref)
end

-- Removes the reverse link of a platform id, unless it belongs to another resource.
local function unlink(target, platform_key, ref)
  if ref_linked_to(target, platform_key) == ref then redis.call('HDEL', key('linked', target), platform_key) end
end

-- Removes the suspected drift that the worker has stored in the link. `read`: its text as the worker read it (absent: there was
-- none). A newer text stays, because the worker does not know it.
local function clear_suspected_drift(target, ref, read)
  local is_newer = read and redis.call('HGET', key('suspectedDrift', target), ref) ~= read
  if not read or is_newer then return end
  redis.call('HDEL', key('suspectedDrift', target), ref)
  redis.call('HDEL', key('observedDrift', target), ref)
end
