-- Judges destructive writes before they are sent. Allowed ones are counted, the others are held for approval.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { target, items: [[kind, ref, subject or '']], allowances: { kind: most within the window, -1 = hold all },
--        windowMs, expiryMs (of an approval without a decision), whole (all items or none),
--        always (neither an approval nor an earlier count lets an item through),
--        counting (true: counts the items, and judges none of them),
--        later: counted items of later portions, a number for each of `kinds`, kinds,
--        stop (held|rejected: a verdict of another portion) }
-- RETURN {"judged", [allowed|held|rejected of each item]}
--        | {"counted", [items of each of `kinds` without an earlier verdict], stop of this portion or ''}
-- NEEDS exceptions, numbers
local now = clock()
local approval, waiting = key('guardApproval', p.target), key('guardWaiting', p.target)
local serial, expires = unpack(redis.call('HMGET', approval, 'serial', 'expires'))
serial, expires = tonumber(serial), tonumber(expires)
-- Changes held under an expired approval are judged again.
if expires and expires <= now then serial = nil end

local function sets(family, kind) return key(family, p.target .. ':' .. kind) end

-- Returns the verdict of an earlier decision or count; nil: the item is to be judged.
local function decided(kind, text)
  if p.always then redis.call('ZREM', sets('guardApproved', kind), text); redis.call('ZREM', sets('guardUsed', kind), text) end
  if tonumber(redis.call('ZSCORE', sets('guardApproved', kind), text) or 0) > now then return 'allowed' end
  if tonumber(redis.call('ZSCORE', sets('guardUsed', kind), text) or 0) > now - p.windowMs then
    -- A repeated or retried change is counted once, at its latest time.
    redis.call('ZADD', sets('guardUsed', kind), now, text)
    return 'allowed'
  end
  if redis.call('ZSCORE', sets('guardRejected', kind), text) then return 'rejected' end
  local place = tonumber(redis.call('ZSCORE', sets('guardHeld', kind), text) or 0)
  if serial and place > serial then
    -- A decision about another change of the resource may have ended its exception (guard_move.lua).
    local by_ref, ref = key('exceptionReasons', p.target), string.match(text, '^%S+')
    if not redis.call('HGET', by_ref, ref) then set_exception(p.target, ref, 'Held', now) end
    return 'held'
  end
  redis.call('ZREM', sets('guardHeld', kind), text)
end

-- Returns whether `more` changes of a kind fit into its allowance.
local function fits(kind, more)
  local used = sets('guardUsed', kind)
  redis.call('ZREMRANGEBYSCORE', used, '-inf', now - p.windowMs)
  local total = redis.call('ZCARD', used) + redis.call('ZCARD', sets('guardHeld', kind)) + more
  if kind ~= 'deactivate' then return total <= p.allowances[kind] end
  total = total + redis.call('SCARD', waiting)
  if total <= p.allowances[kind] or p.allowances[kind] < redis.call('ZCARD', used) then return total <= p.allowances[kind] end
  -- Over the limit: a change that is both counted and waiting counts once.
  return total - #redis.call('ZINTER', 2, used, waiting) <= p.allowances[kind]
end

local function hold(kind, ref, subject, text)
  if not serial then
    serial, expires = next_number(), now + p.expiryMs
    redis.call('HSET', approval, 'serial', serial, 'opened', string.format('%d', now), 'expires', string.format('%d', expires))
  end
  redis.call('ZADD', sets('guardHeld', kind), next_number(), text)
  redis.call('SADD', key('guardItems', p.target .. ':' .. ref), kind .. ' ' .. subject)
  redis.call('ZADD', key('alarms', p.target), string.format('%d', expires), ref)
  -- The change of the last administrator is held too; its exception keeps the more exact reason.
  if redis.call('HGET', key('exceptionReasons', p.target), ref) ~= 'LastAdministrator' then
    set_exception(p.target, ref, 'Held', now)
  end
end

local verdicts, names, open, stop = {}, {}, {}, p.stop
local fresh = {}
for index, item in ipairs(p.items) do
  local kind = item[1]
  names[index] = item[3] == '' and item[2] or item[2] .. ' ' .. item[3]
  if kind == 'deactivate' then redis.call('SREM', waiting, names[index]) end
  verdicts[index] = decided(kind, names[index])
  if not verdicts[index] then
    fresh[kind] = (fresh[kind] or 0) + 1
  elseif verdicts[index] ~= 'allowed' and stop ~= 'rejected' then
    stop = verdicts[index]
  end
end
if p.counting then
  local counts = {}
  for index, kind in ipairs(p.kinds) do counts[index] = fresh[kind] or 0 end
  return { 'counted', counts, stop or '' }
end
for index, count in ipairs(p.later or {}) do
  local kind = p.kinds[index]
  if count > 0 then fresh[kind] = (fresh[kind] or 0) + count end
end
for kind, more in pairs(fresh) do
  open[kind] = fits(kind, more)
  if not open[kind] then stop = stop or 'held' end
end
for index, item in ipairs(p.items) do
  local kind, text = item[1], names[index]
  if verdicts[index] then
    -- This item was decided earlier.
  elseif p.whole and stop == 'rejected' then
    verdicts[index] = 'rejected'
  elseif open[kind] and not (p.whole and stop) then
    verdicts[index] = 'allowed'
    redis.call('ZADD', sets('guardUsed', kind), now, text)
  else
    verdicts[index] = 'held'
    hold(kind, item[2], item[3], text)
  end
end
return { 'judged', verdicts }
