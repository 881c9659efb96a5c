-- Deletes a link whose platform resource is gone, so that the next sync looks it up again.
-- KEYS base
-- ARGV { target, targets: [target], ref, platformId, request }
-- RETURN {"forgotten"} | {"kept"}
-- NEEDS exceptions, links, marks
local link = redis.call('HGET', key('links', p.target), p.ref)
if not link or cjson.decode(link).id ~= p.platformId then return { 'kept' } end
redis.call('HDEL', key('links', p.target), p.ref)
-- Takes the lease from a running sync of this ref, because it would store the link again.
redis.call('DEL', key('lease', p.target .. ':' .. p.ref))
set_exception(p.target, p.ref)
unlink(p.target, string.match(p.ref, '^(%a+)') .. ':' .. p.platformId, p.ref)
mark(p.ref, 1)
return { 'forgotten' }
