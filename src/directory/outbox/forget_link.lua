-- Deletes a link whose account or group is gone, or that an operator orders to forget, or that gives way to the link of another
-- connection (links.ts). The next sync of the resource looks the account or group up again.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, targets: [target], ref, platformId, request,
--        keepsId, leaves (lua/forget_link.lua) }
-- RETURN {"forgotten"} | {"kept"}: the resource is not linked to this platform id
-- NEEDS keys (p), forget_link (forget_link)
return { forget_link(p.target, p.ref, p.platformId) and 'forgotten' or 'kept' }
