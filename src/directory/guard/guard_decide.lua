-- Stores an operator's decision about held changes: all listed ones, or those of some resources. A rejected change can still
-- be approved by the id of its approval. Withdrawing a rejection marks its resources, so that the guard judges them anew.
-- KEYS base
-- ARGV { target, targets: [target], kinds, serial, upTo (last place that was listed; absent: all), refs (absent: all),
--        action: approve|reject|withdraw, expiryMs (of an approval), by, request, act (audit entry as in append_act; absent: none) }
-- RETURN {"decided", number of each kind} | {"expired"} | {"unknown"}
-- NEEDS exceptions, guard, log, marks
local now = clock()
local serial, expires = unpack(redis.call('HMGET', key('guardApproval', p.target), 'serial', 'expires'))
local source, from, to = 'guardHeld', '(' .. p.serial, p.upTo or '+inf'
if p.action == 'withdraw' or tonumber(serial) ~= p.serial then
  if p.action == 'reject' then return { 'unknown' } end
  source, from, to = 'guardRejected', p.serial, p.serial
elseif tonumber(expires) <= now then
  return { 'expired' }
end
local function sets(family, kind) return key(family, p.target .. ':' .. kind) end

local chosen
if p.refs then
  chosen = {}
  for _, ref in ipairs(p.refs) do chosen[ref] = true end
end

local counts, items, looked = {}, {}, {}
for index, kind in ipairs(p.kinds) do
  counts[index] = 0
  for _, text in ipairs(redis.call('ZRANGEBYSCORE', sets(source, kind), from, to)) do
    local ref = string.match(text, '^%S+')
    if not chosen or chosen[ref] then
      counts[index] = counts[index] + 1
      redis.call('ZREM', sets(source, kind), text)
      if p.action == 'approve' then
        redis.call('ZADD', sets('guardApproved', kind), string.format('%d', now + p.expiryMs), text)
      elseif p.action == 'reject' then
        redis.call('ZADD', sets('guardRejected', kind), p.serial, text)
      end
      if #items < 1000 then items[#items + 1] = kind .. ' ' .. text end
      local urgent = p.action ~= 'reject' and (kind == 'deactivate' or string.sub(ref, 1, 5) == 'User:')
      looked[ref] = math.min(looked[ref] or 1, urgent and 0 or 1)
    end
  end
  -- After an approval the counts start again.
  if counts[index] > 0 and p.action == 'approve' then redis.call('DEL', sets('guardUsed', kind)) end
end
for ref, priority in pairs(looked) do
  set_exception(p.target, ref, p.action == 'reject' and 'Rejected' or nil, now)
  mark(ref, priority)
end
guard_close(p.kinds)
if #items == 0 and source == 'guardRejected' then return { 'unknown' } end
if #items > 0 then
  local decision = { serial = p.serial, upTo = p.upTo, action = p.action, at = now, by = p.by, kinds = {}, items = items }
  for index, kind in ipairs(p.kinds) do decision.kinds[kind] = counts[index] end
  redis.call('LPUSH', key('guardDecisions', p.target), cjson.encode(decision))
  redis.call('LTRIM', key('guardDecisions', p.target), 0, 49)
  if p.act then write_chained('acts', nil, p.act) end
end
return { 'decided', counts }
