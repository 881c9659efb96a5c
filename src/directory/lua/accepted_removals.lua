-- Counts deactivations that a push has accepted, so that the guard knows them before their syncs ask it.

-- Returns whether the account of a user may be active. In the text of a link `id` is the platform id, `c.a` the `active` that
-- was written last, `w` the time of the last write, and `unsure` has the names of values whose write was not confirmed (link.ts).
local function is_open(target, ref)
  local link = redis.call('HGET', key('links', target), ref)
  if not link then return false end
  local known = cjson.decode(link)
  for _, name in ipairs(known.unsure or {}) do if name == 'active' then return true end end
  local has_account, was_closed = known.id ~= nil, known.c ~= nil and known.c.a == false
  return has_account and not was_closed
end

-- Ends the count of a deactivation that the source takes back, if no write of it was sent: no sync runs, the link knows the
-- account as open, and nothing was written since the guard allowed the deactivation (the score in `guardUsed`). After a lost
-- answer `active` is unsure, so the count stays.
local function uncount_deactivation(target, ref)
  local used = key('guardUsed', target .. ':deactivate')
  local allowed_at = tonumber(redis.call('ZSCORE', used, ref) or nil)
  if not allowed_at or redis.call('EXISTS', key('lease', target .. ':' .. ref)) == 1 then return end
  local link = redis.call('HGET', key('links', target), ref)
  local known = link and cjson.decode(link)
  local is_known_open = known and known.c and known.c.a == true and (known.w or 0) < allowed_at
  for _, name in ipairs(known and known.unsure or {}) do if name == 'active' then return end end
  if is_known_open then redis.call('ZREM', used, ref) end
end

-- Counts a deactivation (`guardWaiting`), unless the account is closed or the guard counts the change in another list.
local function count_deactivation(target, ref)
  local of_kind = target .. ':deactivate'
  local function is_in(family) return redis.call('ZSCORE', key(family, of_kind), ref) end
  if not is_open(target, ref) or is_in('guardHeld') or is_in('guardApproved') then return end
  redis.call('SADD', key('guardWaiting', target), ref)
end
