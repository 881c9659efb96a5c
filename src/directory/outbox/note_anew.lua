-- Notes that the next run of a target maps everything, because resources may have been synced by other rules, or pushes have
-- left no marks. A repair stays noted. Each note is another text, so that a run that began before it does not end it.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { target, rules (digest: it is noted only where everything was mapped by other rules; absent: in any case) }
-- RETURN {"noted"} | {"none"}
local name = key('mapped', p.target)
local former = redis.call('GET', name) or ''
local noted = string.match(former, '^repaired') or string.match(former, '^anew')
if p.rules and (former == '' or former == p.rules or noted) then return { 'none' } end
local state = noted or 'anew'
redis.call('SET', name, string.format('%s %d', state, redis.call('INCR', key('runs'))))
return { 'noted' }
