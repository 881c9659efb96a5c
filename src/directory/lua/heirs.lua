-- Wakes heirs: resources that wait for the name or account of a holder. `heirs` (keys.ts) has them by its ref; a lost entry only
-- delays an heir until its next attempt (sync/names/succession.ts).
-- NEEDS keys (clock, EDIT, key), marks (mark_at, requeue)

-- Notes that a resource waits for the name or account of `holder`.
local function note_heir(target, holder, heir)
  local known = redis.call('HGET', key('heirs', target), holder)
  local is_known = known and string.find(' ' .. known .. ' ', ' ' .. heir .. ' ', 1, true)
  if not is_known then redis.call('HSET', key('heirs', target), holder, known and known .. ' ' .. heir or heir) end
end

-- Makes the heirs of `holder` due. `may_be_free`: MAY_BE_FREE if it may have given up its name or account, so that dead letters
-- among the heirs are marked too; nil: these stay.
local MAY_BE_FREE = true
local function wake_heirs(target, holder, may_be_free)
  local heirs = redis.call('HGET', key('heirs', target), holder)
  if not heirs then return end
  redis.call('HDEL', key('heirs', target), holder)
  for heir in string.gmatch(heirs, '%S+') do
    local is_dead_letter = redis.call('ZSCORE', key('blocked', target), heir)
    if not is_dead_letter then requeue(target, heir, EDIT)
    elseif may_be_free then mark_at(target, heir, EDIT, clock())
    else note_heir(target, holder, heir) end
  end
end
