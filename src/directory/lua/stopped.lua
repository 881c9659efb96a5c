-- Decides whether a target may be written. `hold:<target>` exists while the target is on hold (holds.lua). The set
-- `tenant:<target>` has the addresses at which the linked accounts were recognised (ADR 0022). `address`: that of the platform in
-- the settings.
-- NEEDS keys (key)

-- Returns whether writes to a target are stopped: by a hold, or because its tenant was recognised at other addresses only.
local function is_stopped(target, address)
  if redis.call('EXISTS', key('hold', target)) == 1 then return true end
  local is_recognised = not address or redis.call('SISMEMBER', key('tenant', target), address) == 1
  return not is_recognised and redis.call('EXISTS', key('tenant', target)) == 1
end

-- Accepts the address of a target without links: there is no account yet that could belong to another tenant.
local function note_first_address(target, address)
  if not address or redis.call('EXISTS', key('links', target)) == 1 then return end
  redis.call('SADD', key('tenant', target), address)
end
