-- Counts marked deactivations (`guardWaiting`), so that the guard knows them before their syncs ask it.
-- NEEDS keys (key)

-- Returns whether the account of a user may be active. In the text of a link `id` is the platform id, `c.a` the `active` that
-- was written last, and `unsure` has the names of values whose write was not confirmed (link.ts).
local function is_open(target, ref)
  local link = redis.call('HGET', key('links', target), ref)
  if not link then return false end
  -- A link that cannot be read counts as that of an open account. An error would end the push between two of its writes.
  local is_read, known = pcall(cjson.decode, link)
  if not is_read or type(known) ~= 'table' then return true end
  for _, name in ipairs(known.unsure or {}) do if name == 'active' then return true end end
  local has_account, was_closed = known.id ~= nil, known.c ~= nil and known.c.a == false
  return has_account and not was_closed
end

-- Counts a deactivation (`guardWaiting`), unless the user has no open account, or the deactivation is held or approved.
local function count_deactivation(target, ref)
  local of_kind = target .. ':deactivate'
  local function is_in(family) return redis.call('ZSCORE', key(family, of_kind), ref) end
  if not is_open(target, ref) or is_in('guardHeld') or is_in('guardApproved') then return end
  redis.call('SADD', key('guardWaiting', target), ref)
end
