-- Marks a portion of the members of groups with a new name at each target.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { targets, request }
-- RETURN {"left"}: call it again | {"marked"}
-- NEEDS renamed
local left = false
for _, target in ipairs(p.targets) do left = mark_renamed(target) or left end
return { left and 'left' or 'marked' }
