-- Tells whether the account of a user is still to be found.
-- NEEDS keys (key)

-- Returns whether the user has no linked account and may have one: a restore lost the link, an operator ordered to forget it, or a
-- create got no answer.
local function is_account_sought(target, user_ref)
  local text = redis.call('HGET', key('links', target), user_ref)
  local known = text and cjson.decode(text) or {}
  return not known.id and (known.tried or known.mayExist) and true or false
end
