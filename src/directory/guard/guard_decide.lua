-- Stores an operator's decision about held changes with its audit entry, and notes what guard_move has to move. A rejected change
-- can still be approved by the id of its approval.
-- KEYS base
-- ARGV { target, kinds, serial, upTo (last place that was listed), source: guardHeld|guardRejected,
--        choice (id of the list of chosen changes; absent: all), chosen (number of each kind), shown (most changes to keep for
--        display), action: approve|reject|withdraw, expiryMs (of an approval), by, note, selection (in words), request,
--        act (audit entry as in append_act; absent: none),
--        first ([field, text] of the first approval that this one completes; absent: one approval suffices) }
-- RETURN {"decided", number of each kind} | {"expired"} | {"unknown"} | {"busy"}: an earlier decision is not moved yet
--        | {"changed"}: the first approval is another one by now
-- NEEDS guard, log
local now = clock()
local deciding = key('guardDeciding', p.target)
if redis.call('EXISTS', deciding) == 1 then return { 'busy' } end
local refused = guard_refusal(p.source, p.serial)
if refused then return { refused } end
local firsts = key('guardFirst', p.target)
if p.first and redis.call('HGET', firsts, p.first[1]) ~= p.first[2] then return { 'changed' } end
local from, to = p.serial, p.serial
if p.source == 'guardHeld' then from, to = '(' .. p.serial, p.upTo end

local counts, items, total = {}, {}, 0
local choice = p.choice and key('guardChoice', p.target .. ':' .. p.choice)
for index, kind in ipairs(p.kinds) do
  local source = key(p.source, p.target .. ':' .. kind)
  counts[index] = choice and (p.chosen[kind] or 0) or redis.call('ZCOUNT', source, from, to)
  total = total + counts[index]
  if not choice and #items < p.shown then
    for _, text in ipairs(redis.call('ZRANGEBYSCORE', source, from, to, 'LIMIT', 0, p.shown - #items)) do
      items[#items + 1] = kind .. ' ' .. text
    end
  end
end
if total == 0 then
  if p.source == 'guardRejected' then return { 'unknown' } end
  return { 'decided', counts }
end
if choice then
  items = redis.call('LRANGE', choice, 0, p.shown - 1)
  redis.call('PERSIST', choice)
end
local decision = { serial = p.serial, upTo = p.upTo, action = p.action, at = now, by = p.by, note = p.note,
  selection = p.selection, kinds = {}, items = items }
for index, kind in ipairs(p.kinds) do
  decision.kinds[kind] = counts[index]
  -- A person who approves all that is held has looked at what came before it, so the counts start again.
  if counts[index] > 0 and p.action == 'approve' and not choice then redis.call('UNLINK', key('guardUsed', p.target .. ':' .. kind)) end
end
redis.call('LPUSH', key('guardDecisions', p.target), cjson.encode(decision))
redis.call('LTRIM', key('guardDecisions', p.target), 0, 49)
redis.call('HSET', deciding, 'action', p.action, 'source', p.source, 'serial', p.serial, 'from', from, 'to', to,
  'choice', p.choice or '', 'expires', string.format('%d', now + p.expiryMs), 'request', p.request)
if p.first then redis.call('HDEL', firsts, p.first[1]) end
if p.act then write_chained('acts', nil, p.act) end
return { 'decided', counts }
