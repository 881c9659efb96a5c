-- Deletes a link whose platform resource is gone, or that an operator orders to forget, so that the next sync looks it up again.
-- KEYS key base. lua/keys.lua explains these header lines, `p` (the arguments), `key`, `clock` and unexplained arguments
-- ARGV { target, targets: [target], ref, platformId, request,
--        keepsId, leaves (lua/forget_link.lua) }
-- RETURN {"forgotten"} | {"kept"}: the resource is not linked to this platform id
-- NEEDS forget_link
return { forget_link(p.target, p.ref, p.platformId) and 'forgotten' or 'kept' }
