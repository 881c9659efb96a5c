-- Reads the records of the first ids, up to a limit of bytes, so that a reply does not fill the memory.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { family (of the records: users|groups), ids, bytes (limit of the records together) }
-- RETURN stored records of the first ids (false for an unknown id), at least one, and more up to `bytes` bytes in total
-- NEEDS keys (key, p)
local fitting, size = {}, 0
for _, id in ipairs(p.ids) do
  size = size + redis.call('HSTRLEN', key(p.family), id)
  local is_full = size > p.bytes and #fitting > 0
  if is_full then break end
  fitting[#fitting + 1] = id
end
return redis.call('HMGET', key(p.family), unpack(fitting))
