-- Counts accepted deactivations for the guard.

-- Returns whether the account of a user's link may be active. In a link `c.a` is the last written `active` (link.ts).
local function is_open(target, ref)
  local link = redis.call('HGET', key('links', target), ref)
  if not link then return false end
  local known = cjson.decode(link)
  for _, name in ipairs(known.unsure or {}) do if name == 'active' then return true end end
  return known.id ~= nil and (known.c or {}).a ~= false
end

-- Counts an accepted deactivation for the guard, unless it is held or approved already.
local function count_deactivation(target, ref)
  local of_kind = target .. ':deactivate'
  if not is_open(target, ref) or redis.call('ZSCORE', key('guardHeld', of_kind), ref) then return end
  if redis.call('ZSCORE', key('guardApproved', of_kind), ref) then return end
  redis.call('SADD', key('guardWaiting', target), ref)
end
