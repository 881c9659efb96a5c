-- Names the signs of pending memberships, which are not yet written at a target (pending_groups.lua).
local TO_ADD, TO_REMOVE = '+', '-'
-- A removal that is not written, because it or the deactivation of a deleted user was rejected, or the user is protected.
local KEPT_REMOVAL = 'r'
-- A removal that the platform answered with success, but no answer or read shows yet, or of a user whose account is still to be
-- found; nothing waits for it.
local UNCONFIRMED_REMOVAL = 'u'

-- Returns whether a member of a group is unmanaged, an account that no identity provider pushed. The name of such a member is
-- `@<platform id>`, and that of every other member the user's id.
local function is_unmanaged(member) return string.sub(member, 1, 1) == '@' end
