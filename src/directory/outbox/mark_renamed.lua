-- Marks one portion of the members of renamed very large groups, at each target, because attribute mappings may read the names
-- of a user's groups. All members in one script would block Redis for too long (lua/renamed.lua).
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { targets, request }
-- RETURN {"left"}: members are left, so call it again | {"marked"}: all are marked
-- NEEDS keys (p), renamed (mark_renamed)
local left = false
for _, target in ipairs(p.targets) do left = mark_renamed(target) or left end
return { left and 'left' or 'marked' }
