-- Reads the members of a group, or their number when there are more than `most`.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { group (its id), most (members and member values without a user, together) }
-- RETURN {'listed', ids of users, member values without a user (lua/references.lua)} | {'many', number of both}
-- NEEDS keys (key, p)
local count = redis.call('SCARD', key('members', p.group)) + redis.call('HLEN', key('unresolved', p.group))
if count > p.most then return { 'many', count } end
return { 'listed', redis.call('SMEMBERS', key('members', p.group)), redis.call('HKEYS', key('unresolved', p.group)) }
