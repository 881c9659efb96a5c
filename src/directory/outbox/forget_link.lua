-- Deletes a link whose platform resource is gone, so that the next sync looks it up again.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { target, targets: [target], ref, platformId, request }
-- RETURN {"forgotten"} | {"kept"}: the resource is not linked to this platform id
-- NEEDS forget_link
return { forget_link(p.target, p.ref, p.platformId) and 'forgotten' or 'kept' }
