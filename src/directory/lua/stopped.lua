-- Whether nothing is handed over or written at a target: a hold stands, or the platform's address is none of those at which
-- the linked accounts were recognised (ADR 0022).
local function is_stopped(target, address)
  if redis.call('EXISTS', key('hold', target)) == 1 then return true end
  if not address or redis.call('SISMEMBER', key('tenant', target), address) == 1 then return false end
  return redis.call('EXISTS', key('tenant', target)) == 1
end

-- Every address is right for a target without links.
local function note_first_address(target, address)
  if not address or redis.call('EXISTS', key('links', target)) == 1 then return end
  redis.call('SADD', key('tenant', target), address)
end
