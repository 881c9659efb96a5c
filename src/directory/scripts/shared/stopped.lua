-- Whether nothing is handed over or written at a target: a hold stands, or the platform's address is another one than the
-- address at which the linked accounts were last recognised (ADR 0022).
local function is_stopped(target, address)
  if redis.call('EXISTS', key('hold', target)) == 1 then return true end
  local known = redis.call('GET', key('tenant', target))
  return known and address and known ~= address or false
end

-- The first address of a target without links is the one that its accounts will be known from.
local function note_first_address(target, address)
  if not address or redis.call('EXISTS', key('tenant', target), key('links', target)) > 0 then return end
  redis.call('SET', key('tenant', target), address)
end
