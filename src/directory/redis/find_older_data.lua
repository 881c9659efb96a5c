-- Finds out whether Redis came back with less data than a process has seen. Holds the targets if the data is older: syncs and
-- reconcile runs would write a former state, for example open the account of a leaver. `dataSeen` has the time of the last call of
-- any process; the caller remembers the reply to its own last call.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { targets, seen (the time that the last call returned, 0: it is the first), mostLostMs (a smaller loss is none), by and
--        note (of the holds), sequence (that the last call returned) }
-- RETURN {"whole" | "older" | "empty", time, value of `sequence`}; empty: all data is lost, and no target is held
-- NEEDS keys (clock, key, p), holds (hold_target)
-- Length from which a note, in bytes, takes no more text: Redis may come back with older data again and again.
local LONGEST_NOTE = 4000
local name = key('dataSeen')
local stored = tonumber(redis.call('GET', name) or 0)
local sequence = tonumber(redis.call('GET', key('sequence')) or 0)
-- The first call of a process writes nothing: with the present time in `dataSeen`, other processes could not find out any more that
-- data is missing.
if p.seen == 0 then return { 'whole', stored > 0 and stored or clock(), sequence } end
-- The larger time is kept, because the clock of Redis may have been put back.
local seen = math.max(clock(), stored)
redis.call('SET', name, string.format('%d', seen))
-- `dataSeen` is lost. If the counter `sequence` has fallen too, all data is lost.
if stored == 0 then return { sequence < p.sequence and 'empty' or 'whole', seen, sequence } end
if p.seen - stored <= p.mostLostMs then return { 'whole', seen, sequence } end
for _, target in ipairs(p.targets) do
  if not hold_target(target, p.by, p.note) then
    -- The target is on hold already. The note about the loss is added to the note of this hold, for the operator who releases it.
    local hold = key('hold', target)
    local order = cjson.decode(redis.call('GET', hold))
    -- With `operator`, both a reconcile run and an operator hold the target (lua/holds.lua): the operator's note gets the addition.
    local field = order.operator and 'operatorNote' or 'note'
    local former_note = order[field] or ''
    if #former_note < LONGEST_NOTE then
      order[field] = former_note == '' and p.note or former_note .. '; ' .. p.note
      redis.call('SET', hold, cjson.encode(order))
    end
  end
end
return { 'older', seen, sequence }
