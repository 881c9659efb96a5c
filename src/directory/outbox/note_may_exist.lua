-- Notes (`mayExist` of link.ts) that an account or group may exist whose link a restore has lost. A link with a platform id, with
-- such a note, or with a create whose answer was lost (`tried`) stays as it is.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, items: [ref, names at the source as core values of a link text (link.ts)] }
-- RETURN {"noted"}
-- NEEDS keys (key, p)
for _, item in ipairs(p.items) do
  local ref, names = unpack(item)
  local text = redis.call('HGET', key('links', p.target), ref)
  local link = text and cjson.decode(text) or {}
  if not link.id and not link.mayExist and not link.tried then
    link.mayExist = {}
    link.c = names
    redis.call('HSET', key('links', p.target), ref, cjson.encode(link))
  end
end
return { 'noted' }
