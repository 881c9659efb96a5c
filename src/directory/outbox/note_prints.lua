-- Stores fingerprints of accounts that are equal to their links, if the links are unchanged.
-- KEYS base
-- ARGV { target, prints: [[way (kind:platform id), ref, SHA-1 of the link's text, print]] }
-- RETURN {"noted", number}
-- NEEDS links
local noted = 0
for _, each in ipairs(p.prints) do
  local way, ref, link, print = unpack(each)
  local held = holder_of_way(p.target, way)
  if held == ref and redis.sha1hex(redis.call('HGET', key('links', p.target), ref) or '') == link then
    redis.call('HSET', key('linked', p.target), way, ref .. ' ' .. print)
    noted = noted + 1
  end
end
return { 'noted', noted }
