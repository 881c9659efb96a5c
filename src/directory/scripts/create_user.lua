-- Stores a user under an id that was made for it just now, with its indexes, heals references that waited for it and leaves a
-- dirty mark, in one step. Nobody can wait for such an id, be in a group under it, or have seen it blocked.
-- KEYS base
-- ARGV { id, now, request, targets, groupsMatter, lane (absent: new) },
--      the record as it shall be stored, then for each of its index entries the short family and the value
-- RETURN 'stored version created modified groups' as put_user does | 'taken family id', that of the holder |
--        'stale': it is there already, by this very call, which was sent again
local record, entries = texts[1], {}
for at = 2, #texts, 2 do entries[#entries + 1] = { texts[at], texts[at + 1] } end
if not writes_short() then
  local head, short, text = string.match(record, '^(%d+ %d+ %d+ %S+ )([^\n]*)(.*)$')
  local long = long_entries(short)
  record, entries = head .. long .. text, cjson.decode(long)
end
if redis.call('HSETNX', key('users'), p.id, record) == 0 then return 'stale' end
local family, holder = claim_entries(entries, p.id)
if family then
  redis.call('HDEL', key('users'), p.id)
  return table.concat({ 'taken', family, holder }, ' ')
end
redis.call('ZADD', key('order', 'User'), next_number(), p.id)
local groups = heal(p.id, entries) and named_groups_of(p.id) or ''
if tell then tell('User', p.id, parse(record), {}) end
mark_first('User:' .. p.id, p.lane or 2)
return table.concat({ 'stored 1', p.now, p.now, groups }, ' ')
