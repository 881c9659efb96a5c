-- Proves one portion of a family of a target whose fields or members are refs (keys.ts). A mark must be readable, and in `dirty`
-- (waits) or `inflight` (in work). A ref of a family in MARKED must have a mark or a running sync; a ref of another family must
-- have a record, a link or a mark.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, targets: [target], family, cursor, count, repair, request }
-- RETURN {"proved", next cursor, entries checked, [faults: prove_records.lua]}. lua/proof.lua: `fault` notes one, `proved` replies
-- NEEDS keys (clock, key, p, RECONCILE), mark_texts (renewed), marks (make_due), proof (fault, is_stored, is_syncing, proved)

-- Commands that scan the families; the other families are sorted sets.
local COMMANDS = { marks = 'HSCAN', deliveries = 'HSCAN', suspectedDrift = 'HSCAN', groupsSeen = 'HSCAN',
  guardWaiting = 'SSCAN' }
local MARKED = { dirty = true, inflight = true, deliveries = true, accepted = true, guardWaiting = true }
local marks, name, command = key('marks', p.target), key(p.family, p.target), COMMANDS[p.family] or 'ZSCAN'
local next_cursor, entries = unpack(redis.call(command, name, p.cursor, 'COUNT', p.count))

-- Returns the score of a ref in a family; false: the family does not have the ref.
local function score_of(family, ref) return redis.call('ZSCORE', key(family, p.target), ref) end

-- Removes a ref from the family.
local function drop(ref)
  if command == 'HSCAN' then redis.call('HDEL', name, ref)
  elseif command == 'SSCAN' then redis.call('SREM', name, ref)
  else redis.call('ZREM', name, ref) end
end

-- A mark must be readable ('generation since request'), and its ref in `dirty` or `inflight`; a ref in `inflight` must also be
-- in `accepted`, with the time `since` of the mark.
local function prove_mark(ref, text)
  local since = string.match(text, '^%d+ (%d+) %S')
  if not since then
    -- `renewed` builds a new mark (lua/mark_texts.lua).
    fault('marks', 'wrong', ref, function() redis.call('HSET', marks, ref, renewed(nil, clock(), p.request)) end)
  end
  if score_of('inflight', ref) then
    if since and not score_of('accepted', ref) then
      fault('accepted', 'missing', ref, function() redis.call('ZADD', key('accepted', p.target), since, ref) end)
    end
  elseif not score_of('dirty', ref) then
    fault('dirty', 'missing', ref, function()
      redis.call('HDEL', key('deliveries', p.target), ref)
      make_due(p.target, ref, RECONCILE, clock())
    end)
  end
end

-- Returns whether the family may have the ref.
local function belongs_to_resource(ref)
  if MARKED[p.family] then return redis.call('HEXISTS', marks, ref) == 1 or is_syncing(ref) end
  return is_stored(ref) or redis.call('HEXISTS', key('links', p.target), ref) == 1 or redis.call('HEXISTS', marks, ref) == 1
end

-- SSCAN returns members; HSCAN and ZSCAN return each with a value.
local step = command == 'SSCAN' and 1 or 2
for index = 1, #entries, step do
  local ref = entries[index]
  if p.family == 'marks' then
    prove_mark(ref, entries[index + 1])
  elseif not belongs_to_resource(ref) then
    fault(p.family, 'surplus', ref, function() drop(ref) end)
  end
end
return proved(next_cursor, #entries / step)
