-- Stores links to which a comparison has added values that the platform has already (reconcile/compare/as-applied.ts). A link is
-- left as it is if its record or the link changed since, or a sync runs or is due.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, links: [{ ref, kind, id, version (of the record), link (SHA-1 of its text) }] }, then the new text of each link
-- RETURN {"noted", number of stored links}
-- NEEDS keys (key, p, texts), heads (parse_head), links (forget_print)
local links, noted = key('links', p.target), 0
for index, each in ipairs(p.links) do
  local record = redis.call('HGET', key(each.kind == 'User' and 'users' or 'groups'), each.id)
  local link = redis.call('HGET', links, each.ref)
  local is_same = record and parse_head(record).version == each.version and link and redis.sha1hex(link) == each.link
  local is_leased = redis.call('EXISTS', key('lease', p.target .. ':' .. each.ref)) == 1
  local is_marked = redis.call('HEXISTS', key('marks', p.target), each.ref) == 1
  if is_same and not is_leased and not is_marked then
    redis.call('HSET', links, each.ref, texts[index])
    forget_print(p.target, each.kind .. ':' .. cjson.decode(link).id, each.ref)
    noted = noted + 1
  end
end
return { 'noted', noted }
