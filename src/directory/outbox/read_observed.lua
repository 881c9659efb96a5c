-- Returns links and marks of resources as of one moment. Writes nothing: a script that reads is answered while the memory of Redis
-- is full, a transaction is not.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, refs (at least one) }
-- RETURN {"read", [link of each ref, or nil], [mark of each ref, or nil]}
-- NEEDS keys (key, p)
return {
  'read',
  redis.call('HMGET', key('links', p.target), unpack(p.refs)),
  redis.call('HMGET', key('marks', p.target), unpack(p.refs)),
}
