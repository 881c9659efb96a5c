-- Replaces a stored text that names a forgotten person, unless the text changed since it was read.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { family (keys.ts), target (absent: a key of the connection), field (of a hash; absent: the key is a string or a list),
--        before (SHA-1 of the text that was read) }, then the new text
-- RETURN {"replaced"} | {"kept"}: the text has changed or is gone
-- NEEDS keys (key, p, texts)
local name, text = key(p.family, p.target), texts[1]
-- Returns whether a stored text (false: none) is the one that was read.
local function is_same(stored) return stored and redis.sha1hex(stored) == p.before end

if p.field then
  if not is_same(redis.call('HGET', name, p.field)) then return { 'kept' } end
  redis.call('HSET', name, p.field, text)
  return { 'replaced' }
end
if redis.call('TYPE', name).ok == 'list' then
  for index, stored in ipairs(redis.call('LRANGE', name, 0, -1)) do
    if is_same(stored) then
      redis.call('LSET', name, index - 1, text)
      return { 'replaced' }
    end
  end
  return { 'kept' }
end
if not is_same(redis.call('GET', name)) then return { 'kept' } end
redis.call('SET', name, text, 'KEEPTTL')
return { 'replaced' }
