-- Stores the link of a resource whose sync ends. `p`: the arguments of ack_dirty.lua.
-- NEEDS keys (key, p), links (keep_reverse_link, unlink)

-- Stores the text of the link (link.ts), or removes the link (`p.forget`).
local function store_link(link_text)
  local links = key('links', p.target)
  if p.formerId then unlink(p.target, p.kind .. ':' .. p.formerId, p.ref) end
  if not p.forget then
    redis.call('HSET', links, p.ref, link_text)
    if p.platformKey then keep_reverse_link(p.target, p.platformKey, p.ref) end
    return
  end
  unlink(p.target, p.kind .. ':' .. p.forget, p.ref)
  -- A stored resource without link and mark counts as missing (read_coverage), so it keeps a link without platform id.
  local is_stored = redis.call('HEXISTS', key(p.kind == 'User' and 'users' or 'groups'), p.id) == 1
  if is_stored then return redis.call('HSET', links, p.ref, link_text) end
  redis.call('HDEL', links, p.ref)
  redis.call('HDEL', key('groupsSeen', p.target), p.ref)
end
