-- Notes deletions for the guard's percentages, and checks whether an approval can still be decided.
-- NEEDS keys (clock, key, p)

-- Notes a deleted resource in `gone:<kind>`, ids by time of deletion. Within the guard's window it still counts in the total of the
-- guard's percentages (guard_counts.lua), so that a mass deletion does not shrink that total. The entry is kept for a month.
local GONE_MS = 31 * 24 * 3600 * 1000
local function note_deleted(kind, id)
  local now = clock()
  redis.call('ZREMRANGEBYSCORE', key('gone', kind), '-inf', now - GONE_MS)
  redis.call('ZADD', key('gone', kind), now, id)
end

-- Returns why a decision about the changes of an approval is refused: 'unknown' or 'expired'; nil when it is accepted.
-- `source`: family of the changes, guardHeld or guardRejected; a rejection can be decided again at any time. `serial`: number
-- of the approval. `guardApproval:<target>` has the serial and the expiry of the open approval.
local function guard_refusal(source, serial)
  if source ~= 'guardHeld' then return nil end
  local current, expires = unpack(redis.call('HMGET', key('guardApproval', p.target), 'serial', 'expires'))
  local is_open = tonumber(current) == serial
  if not is_open then return 'unknown' end
  return tonumber(expires) <= clock() and 'expired' or nil
end
