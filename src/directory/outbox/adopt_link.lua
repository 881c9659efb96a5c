-- Links a resource to an account or group by order of an operator (`links import`). All its memberships become pending and it is
-- marked, so that every value is written once.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, targets: [target], ref, kind, id, platformId, request }, then the text of the link (link.ts)
-- RETURN {"imported"} | {"unchanged"}: it has this link | {"taken"}: the platform id is linked to another stored
--        resource | {"busy"}: a sync of the resource is running | {"unknown"}: the resource is not stored
-- NEEDS keys (EDIT, key, p, texts), exceptions (set_exception), groups (groups_of)
-- NEEDS inherit_handover (inherit_handover), links (linked_id, ref_linked_to, unlink), marks (mark)
-- NEEDS pending_groups (set_pending, set_pending_all), resume_unconfirmed (resume_unconfirmed), signs (TO_ADD)
local link_text, records = texts[1], key(p.kind == 'User' and 'users' or 'groups')
if redis.call('HEXISTS', records, p.id) == 0 then return { 'unknown' } end
if redis.call('EXISTS', key('lease', p.target .. ':' .. p.ref)) == 1 then return { 'busy' } end
local platform_key = p.kind .. ':' .. p.platformId
local holder = ref_linked_to(p.target, platform_key)
-- A link that was lost or is damaged may have had this id (`holderOf` of links.ts).
local is_other = holder and holder ~= p.ref and (linked_id(p.target, holder) or p.platformId) == p.platformId
if is_other and redis.call('HEXISTS', records, string.match(holder, ':(.*)$')) == 1 then return { 'taken' } end
local stored = redis.call('HGET', key('links', p.target), p.ref)
local former = stored and cjson.decode(stored).id
if former == p.platformId then return { 'unchanged' } end
-- The link itself is overwritten below.
if former then unlink(p.target, p.kind .. ':' .. former, p.ref) end
-- The other resource was deleted at the source; the platform id can have one link only. Its reverse link is overwritten below.
if is_other then
  redis.call('HDEL', key('links', p.target), holder)
  redis.call('HDEL', key('groupsSeen', p.target), holder)
  set_exception(p.target, holder) -- without a reason: ends its exception
  if p.kind == 'User' then inherit_handover(p.target, holder, p.ref) end
end
-- Before the new link is stored: removals that waited until the account is found become pending, and only the old link shows
-- whether they waited.
if p.kind == 'User' then resume_unconfirmed() end
redis.call('HSET', key('links', p.target), p.ref, link_text)
redis.call('HSET', key('linked', p.target), platform_key, p.ref)
if p.kind == 'User' then
  for _, group in ipairs(groups_of(p.id)) do
    set_pending(group, p.id, TO_ADD)
    mark('Group:' .. group, EDIT)
  end
else
  set_pending_all(p.id, redis.call('SMEMBERS', key('members', p.id)), TO_ADD)
end
mark(p.ref, EDIT)
return { 'imported' }
