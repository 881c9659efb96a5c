-- Stores fingerprints of accounts that a comparison found equal to their links (lua/links.lua), if the links are unchanged
-- since.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, prints: [['kind:platform id', ref, SHA-1 of the link's text, fingerprint]] }
-- RETURN {"noted", number of stored fingerprints}
-- NEEDS keys (key, p), links (ref_linked_to)
local noted = 0
for _, each in ipairs(p.prints) do
  local platform_key, ref, link_digest, print = unpack(each)
  local is_linked = ref_linked_to(p.target, platform_key) == ref
  if is_linked and redis.sha1hex(redis.call('HGET', key('links', p.target), ref) or '') == link_digest then
    redis.call('HSET', key('linked', p.target), platform_key, ref .. ' ' .. print)
    noted = noted + 1
  end
end
return { 'noted', noted }
