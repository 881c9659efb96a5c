-- Reads records in the order of their ids, as many as fit, so that what one reply holds is bounded.
-- KEYS base
-- ARGV { family, ids, bytes }
-- RETURN what is stored of the first ids, nothing for one that is gone: of one at least, then while all have at most `bytes` bytes
local fitting, size = {}, 0
for _, id in ipairs(p.ids) do
  size = size + redis.call('HSTRLEN', key(p.family), id)
  if size > p.bytes and #fitting > 0 then break end
  fitting[#fitting + 1] = id
end
return redis.call('HMGET', key(p.family), unpack(fitting))
