-- Reads the members of a group, unless there are too many for one answer.
-- KEYS base
-- ARGV { group, most }
-- RETURN {'listed', the users, what waits for a user} | {'many', how many}
local count = redis.call('SCARD', key('members', p.group)) + redis.call('HLEN', key('unresolved', p.group))
if count > p.most then return { 'many', count } end
return { 'listed', redis.call('SMEMBERS', key('members', p.group)), redis.call('HKEYS', key('unresolved', p.group)) }
