-- Stores an operator's decision about held changes with its audit entry, and notes what guard_move has to move. A rejected
-- change can still be approved by the id of its approval.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, kinds, serial (number of the open approval; the changes held under it have larger places),
--        upTo (largest place in the list that was shown; place: score of a held change), source: guardHeld|guardRejected,
--        ranges: [[from, to]] (first and last scores of the list),
--        choice (id of the stored list of chosen changes; absent: all), chosen (number of chosen changes of each kind),
--        part (digest of the choice, for the id of the decision; absent: all), selection (the choice in words, for display),
--        kept (most decisions to keep, apart from rejections that are in force), shown (most changes to keep for display),
--        action: approve|reject|withdraw (of a rejection: the guard judges its changes anew), expiryMs (of what is approved),
--        by (name of the operator), note (of the operator), request, act (audit entry: `log` of append_act.lua; absent: none),
--        first ([field, text] of the first approval that this one completes, guard_first.lua; absent: one approval suffices) }
-- RETURN {"decided", number of changes of each kind, number of the decision (absent: nothing was decided)}
--        | {"expired"}: the approval is too old | {"unknown"}: there is no such approval, or nothing of the rejection is left
--        | {"busy"}: an earlier decision is not moved yet
--        | {"changed"}: the first approval is another one by now
-- STEPS  1. Refuse: an earlier decision is not moved yet, or the approval has expired, or it or its first approval is another one.
--        2. Count the changes of the list; without any, end.
--        3. Store the decision. The approval of a whole list starts the window anew.
--        4. Remove the oldest decisions, but no rejection in force.
--        5. Note for guard_move.lua what to move; end the first approval; write the audit entry.
-- NEEDS keys (clock, key, p), guard (guard_refusal), log (write_chained), numbers (next_number)
local now = clock()
-- The decision that is still being moved (guard_move.lua).
local deciding = key('guardDeciding', p.target)
if redis.call('EXISTS', deciding) == 1 then return { 'busy' } end
local refused = guard_refusal(p.source, p.serial)
if refused then return { refused } end
local firsts = key('guardFirst', p.target)
local first_field, first_text = unpack(p.first or {})
local is_other_first = first_field and redis.call('HGET', firsts, first_field) ~= first_text
if is_other_first then return { 'changed' } end

-- counts: numbers of changes by position of their kind; items: 'kind item' of the first `shown` changes.
local counts, items, total = {}, {}, 0
local choice = p.choice and key('guardChoice', p.target .. ':' .. p.choice)
for index, kind in ipairs(p.kinds) do
  local source = key(p.source, p.target .. ':' .. kind)
  if choice then
    counts[index] = p.chosen[kind] or 0
  else
    counts[index] = 0
    for _, range in ipairs(p.ranges) do
      local from, to = unpack(range)
      counts[index] = counts[index] + redis.call('ZCOUNT', source, from, to)
      for _, item in ipairs(redis.call('ZRANGEBYSCORE', source, from, to, 'LIMIT', 0, p.shown - #items)) do
        items[#items + 1] = kind .. ' ' .. item
      end
    end
  end
  total = total + counts[index]
end
-- No change is left in the list. Of a rejection the reply is 'unknown'; of held changes it is 'decided' without a number.
if total == 0 then
  if p.source == 'guardRejected' then return { 'unknown' } end
  return { 'decided', counts }
end
-- The list of chosen changes would expire; guard_move still has to read it.
if choice then
  items = redis.call('LRANGE', choice, 0, p.shown - 1)
  redis.call('PERSIST', choice)
end
-- The number is the score of the changes that this decision rejects, so that its id selects these alone.
local number = next_number()
local decision = { serial = p.serial, upTo = p.upTo, part = p.part, number = tonumber(number), action = p.action, at = now,
  by = p.by, note = p.note, selection = p.selection, kinds = {}, items = items,
  approvedUntil = p.action == 'approve' and now + p.expiryMs or nil }
for index, kind in ipairs(p.kinds) do
  decision.kinds[kind] = counts[index]
  -- An approval of the whole list ends the window: what was written before it no longer counts towards the limit.
  local ends_window = counts[index] > 0 and p.action == 'approve' and not choice
  if ends_window then redis.call('UNLINK', key('guardUsed', p.target .. ':' .. kind)) end
end
local decisions = key('guardDecisions', p.target)
redis.call('LPUSH', decisions, cjson.encode(decision))
-- Returns whether an older decision is a rejection that is in force: one of its changes is still rejected.
local function is_in_force(older)
  if older.action ~= 'reject' then return false end
  for _, kind in ipairs(p.kinds) do
    if redis.call('ZCOUNT', key('guardRejected', p.target .. ':' .. kind), older.number, older.number) > 0 then return true end
  end
  return false
end
-- The oldest decisions are removed. A rejection in force is kept, because an operator withdraws it by the id of its decision.
for _, text in ipairs(redis.call('LRANGE', decisions, p.kept, -1)) do
  -- -1: one entry, searched from the oldest.
  if not is_in_force(cjson.decode(text)) then redis.call('LREM', decisions, -1, text) end
end
redis.call('HSET', deciding, 'action', p.action, 'source', p.source, 'number', number, 'ranges', cjson.encode(p.ranges),
  'choice', p.choice or '', 'expires', string.format('%d', now + p.expiryMs), 'request', p.request)
if first_field then redis.call('HDEL', firsts, first_field) end
if p.act then write_chained('acts', nil, p.act) end -- nil: the log of the connection, not of a target
return { 'decided', counts, number }
