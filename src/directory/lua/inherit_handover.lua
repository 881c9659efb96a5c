-- Moves the stored handover of a closed account to the user who takes the account over, such as a person who was deleted at the
-- source and pushed again as a new record: the work in the handover folder belongs to the account.
-- NEEDS keys (key)

-- `former`, `heir`: refs. Does nothing if the former user has no handover, or the heir has one of another account.
local function inherit_handover(target, former, heir)
  local record, own = key('handover', target .. ':' .. former), key('handover', target .. ':' .. heir)
  if redis.call('EXISTS', record) == 0 or redis.call('EXISTS', own) == 1 then return end
  local handovers = key('handovers', target)
  redis.call('RENAME', record, own)
  redis.call('ZADD', handovers, redis.call('ZSCORE', handovers, former) or 0, heir)
  redis.call('ZREM', handovers, former)
end
