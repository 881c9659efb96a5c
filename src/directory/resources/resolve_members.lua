-- Returns the users that member values identify.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { values (member values of the provider), folded (lua/resolve.lua) }
-- RETURN {'users', id, ...}; an id is repeated when several values identify it
-- NEEDS keys (p), resolve (resolve_all)
local found = { 'users' }
for _, user in pairs(resolve_all(p.values)) do found[#found + 1] = user end
return found
