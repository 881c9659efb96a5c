-- Returns whether writes to a target are stopped: by a hold, or because its tenant was not recognised at this address
-- (ADR 0022).
local function is_stopped(target, address)
  if redis.call('EXISTS', key('hold', target)) == 1 then return true end
  if not address or redis.call('SISMEMBER', key('tenant', target), address) == 1 then return false end
  return redis.call('EXISTS', key('tenant', target)) == 1
end

-- Accepts the address of a target that has no links yet.
local function note_first_address(target, address)
  if not address or redis.call('EXISTS', key('links', target)) == 1 then return end
  redis.call('SADD', key('tenant', target), address)
end
