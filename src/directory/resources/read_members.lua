-- Reads the members of a group, or tells their number when they are more than the caller takes.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { group (its id), most (members and member values without a user, together), bytes (of these values) }
-- RETURN {'listed', ids of users, member values without a user (lua/references.lua)} |
--        {'many', number of users, number of these values, bytes of these values as JSON text, estimated}
-- NEEDS keys (key, p)
local unresolved = key('unresolved', p.group)
local users, count = redis.call('SCARD', key('members', p.group)), redis.call('HLEN', unresolved)
if users + count <= p.most then
  local values, size = redis.call('HKEYS', unresolved), 0
  for _, value in ipairs(values) do size = size + #value end
  if size <= p.bytes then return { 'listed', redis.call('SMEMBERS', key('members', p.group)), values } end
end

-- HSCAN returns the values in the order of their hashes, so the first of them are a random sample.
local SAMPLE = 200
local sampled, size, cursor = 0, 0, '0'
repeat
  local fields
  cursor, fields = unpack(redis.call('HSCAN', unresolved, cursor, 'COUNT', SAMPLE))
  for index = 1, #fields, 2 do
    -- JSON writes a control character as six characters.
    local _, escaped = string.gsub(fields[index], '[%c"\\]', '')
    sampled, size = sampled + 1, size + #fields[index] + 5 * escaped
  end
until cursor == '0' or sampled >= SAMPLE
return { 'many', users, count, math.ceil(size / math.max(1, sampled) * count) }
