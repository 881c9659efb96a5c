-- Deletes the link of a resource to a platform id, and marks the resource, so that its next sync looks the account or group up.
-- NEEDS keys (clock, EDIT, key, p), exceptions (set_exception), links (unlink), marks (mark_by_order)

-- Returns the platform id that a link has, or under which an account or group may exist (`mayExist` of link.ts); '': it may exist
-- under an unknown id (`mayExist` without id, `tried`); nil: none may exist.
local function known_id_of(link)
  if link.id then return link.id end
  if link.mayExist and link.mayExist.id then return link.mayExist.id end
  if link.mayExist or link.tried then return '' end
  return nil
end

-- Deletes the link of the resource and returns true if `known_id_of` gives this platform id; else does nothing and returns false.
-- p.keepsId: the link of a stored resource keeps the id in `mayExist`, and the names, so that the account is closed if the resource
-- is deleted before it is linked again. p.leaves: the account or group that a create without answer may have made is not looked for
-- any more. The mark keeps the request of a waiting change, else it has p.request (nil: the bridge itself).
local function forget_link(target, ref, platform_id)
  local text = redis.call('HGET', key('links', target), ref)
  local link = text and cjson.decode(text)
  if not link or known_id_of(link) ~= platform_id then return false end
  if not link.id and link.tried and not p.leaves then
    -- The account or group of the create (`tried`) is still to be found, so the link keeps the create.
    link.mayExist = nil
    redis.call('HSET', key('links', target), ref, cjson.encode(link))
    mark_by_order(target, ref, EDIT, clock())
    return true
  end
  local kind, id = string.match(ref, '^(%a+):(.*)$')
  local is_stored = redis.call('HEXISTS', key(kind == 'User' and 'users' or 'groups'), id) == 1
  if p.keepsId and is_stored then
    local kept = cjson.encode({ mayExist = { id = platform_id }, c = link.c, o = link.o })
    redis.call('HSET', key('links', target), ref, kept)
  else
    redis.call('HDEL', key('links', target), ref)
  end
  -- Ends the lease of a running sync of this ref, because that sync would store the link again.
  redis.call('DEL', key('lease', target .. ':' .. ref))
  set_exception(target, ref) -- without a reason: ends its exception
  unlink(target, kind .. ':' .. platform_id, ref)
  mark_by_order(target, ref, EDIT, clock())
  return true
end
