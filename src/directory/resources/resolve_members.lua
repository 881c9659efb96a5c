-- Returns the users that member values identify.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { values (member values of the provider), folded (lua/resolve.lua) }
-- RETURN {'users', id, ...}; an id is repeated when several values identify it
-- NEEDS resolve
local found = { 'users' }
for _, user in pairs(resolve_all(p.values)) do found[#found + 1] = user end
return found
