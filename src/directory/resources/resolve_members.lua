-- Looks up the users that member values mean.
-- KEYS base
-- ARGV { values, folded: { value: folded value } }
-- RETURN {'users', the users, each as often as it is meant}
-- NEEDS resolve
local found = { 'users' }
for _, user in pairs(resolve_all(p.values)) do found[#found + 1] = user end
return found
