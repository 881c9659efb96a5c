-- Stores fingerprints of accounts that are equal to their links, if the links are unchanged.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { target, prints: [[platformKey (kind:platform id), ref, SHA-1 of the link's text, print]] }
-- RETURN {"noted", number}
-- NEEDS links
local noted = 0
for _, each in ipairs(p.prints) do
  local platform_key, ref, link, print = unpack(each)
  local holder = ref_linked_to(p.target, platform_key)
  if holder == ref and redis.sha1hex(redis.call('HGET', key('links', p.target), ref) or '') == link then
    redis.call('HSET', key('linked', p.target), platform_key, ref .. ' ' .. print)
    noted = noted + 1
  end
end
return { 'noted', noted }
