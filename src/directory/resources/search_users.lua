-- Finds users whose record may contain a text, in one portion of a scan of all records. The caller checks the attributes.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { cursor, count (records of this portion), needles: texts to search for, of which one suffices,
--        folded (true: the needles are lower-case ASCII, and letter case is ignored) }
-- RETURN {"found", next cursor, bytes of the records that were searched, id, id, ...}
-- NEEDS keys (key, p)
local next_cursor, entries = unpack(redis.call('HSCAN', key('users'), p.cursor, 'COUNT', p.count))
local ids, bytes = {}, 0
for index = 1, #entries, 2 do
  local id, record = entries[index], entries[index + 1]
  bytes = bytes + #record
  local text = p.folded and string.lower(record) or record
  for _, needle in ipairs(p.needles) do
    if string.find(text, needle, 1, true) or string.find(id, needle, 1, true) then
      ids[#ids + 1] = id
      break
    end
  end
end
return { 'found', next_cursor, bytes, unpack(ids) }
