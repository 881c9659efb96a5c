-- Index entries are [family, value]; every family but the lookups has one holder per value. Of users they have short names:
-- `m` is a userName that is an address of the user too.
local FAMILIES = { m = 'userNames', u = 'userNames', x = 'externalIds:User', e = 'emails' }
local SHARED = 'sharedExternalIds:User'
local LOOKUPS = { emails = true, [SHARED] = true }
local function family_of(entry) return FAMILIES[entry[1]] or entry[1] end
