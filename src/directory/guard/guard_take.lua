-- Judges destructive writes before a sync sends them. Allowed ones are counted, the others are held for approval. A sync with
-- many writes calls this script in portions: first each with `counting`, then each with the counts of the later ones (`later`).
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, items: [[kind, ref, subject or '']] (lua/guard_items.lua),
--        allowances: { kind: largest number within the window, -1: hold all }, windowMs (duration of the window),
--        expiryMs (of an approval without a decision), whole (all items without an earlier verdict are allowed, or none),
--        always (the items need a new decision: neither an approval nor an earlier count allows one),
--        counting (true: counts the items, and judges none of them),
--        later: counted items of later portions, a number for each of `kinds`, kinds,
--        stop (held|rejected: a verdict of another portion, by which `whole` allows none) }
-- RETURN {"judged", [allowed|held|heldAgain|rejected of each item]}; heldAgain: held anew, because an earlier approval or hold of
--          the item has expired
--        | {"counted", [items of each of `kinds` without an earlier verdict], held|rejected: verdict of an item, or ''}
-- STEPS  1. Look up an earlier verdict on each item (`decided`), and count the others by kind (`undecided`).
--        2. With `counting`, end.
--        3. For each kind: all its undecided items fit into its allowance, or none (`fits`).
--        4. Count the allowed items, and hold the others under the open approval or a new one.
-- NEEDS keys (clock, key, p), exceptions (set_exception), guard_hold (hold, open_approval)
local now = clock()
-- The open approval: a hash with serial (changes held under it have larger places), opened, and expires.
local approval, waiting = key('guardApproval', p.target), key('guardWaiting', p.target)
local serial, expires = unpack(redis.call('HMGET', approval, 'serial', 'expires'))
serial, expires = tonumber(serial), tonumber(expires)
-- Changes held under an expired approval are judged again.
local is_expired = expires and expires <= now
if is_expired then serial = nil end

local function sets(family, kind) return key(family, p.target .. ':' .. kind) end

-- Names of the items whose earlier approval or hold has expired.
local expired = {}

-- Returns the verdict on an item by an earlier decision or count; nil: the item is to be judged. `name`: 'ref' or 'ref subject',
-- the form of the item in the lists of its kind.
local function decided(kind, name)
  if p.always then redis.call('ZREM', sets('guardApproved', kind), name); redis.call('ZREM', sets('guardUsed', kind), name) end
  local approved_until = tonumber(redis.call('ZSCORE', sets('guardApproved', kind), name) or 0)
  if approved_until > now then return 'allowed' end
  local counted_at = tonumber(redis.call('ZSCORE', sets('guardUsed', kind), name) or 0)
  if counted_at > now - p.windowMs then
    -- A repeated or retried change is counted once, at its latest time.
    redis.call('ZADD', sets('guardUsed', kind), now, name)
    return 'allowed'
  end
  if redis.call('ZSCORE', sets('guardRejected', kind), name) then return 'rejected' end
  local place = tonumber(redis.call('ZSCORE', sets('guardHeld', kind), name) or 0)
  local is_held = serial and place > serial -- under the open approval
  if is_held then
    -- A decision about another change of the resource may have ended its exception (guard_move.lua).
    local by_ref, ref = key('exceptionReasons', p.target), string.match(name, '^%S+')
    if not redis.call('HGET', by_ref, ref) then set_exception(p.target, ref, 'Held', now) end
    return 'held'
  end
  redis.call('ZREM', sets('guardHeld', kind), name)
  expired[name] = approved_until > 0 or place > 0
end

-- Returns whether `more` changes of a kind fit into its allowance, next to those that were allowed in the window and that are
-- held. Deactivations that were accepted and not judged yet (`waiting`) count too.
local function fits(kind, more)
  local used = sets('guardUsed', kind)
  redis.call('ZREMRANGEBYSCORE', used, '-inf', now - p.windowMs)
  local total = redis.call('ZCARD', used) + redis.call('ZCARD', sets('guardHeld', kind)) + more
  if kind ~= 'deactivate' then return total <= p.allowances[kind] end
  total = total + redis.call('SCARD', waiting)
  if total <= p.allowances[kind] then return true end
  -- The counted changes alone exceed the allowance, so the intersection below would not change the result.
  if redis.call('ZCARD', used) > p.allowances[kind] then return false end
  -- A change that is in `used` and in `waiting` counts once.
  return total - #redis.call('ZINTER', 2, used, waiting) <= p.allowances[kind]
end

-- names: 'ref' or 'ref subject' of each item. undecided: number of items of each kind without an earlier verdict. stop: verdict
-- other than `allowed` of an item; `rejected` counts more than `held`.
local verdicts, names, undecided, stop = {}, {}, {}, p.stop
for index, item in ipairs(p.items) do
  local kind, ref, subject = unpack(item)
  names[index] = subject == '' and ref or ref .. ' ' .. subject
  -- From here on the verdict counts a deactivation.
  if kind == 'deactivate' then redis.call('SREM', waiting, names[index]) end
  verdicts[index] = decided(kind, names[index])
  if not verdicts[index] then
    undecided[kind] = (undecided[kind] or 0) + 1
  elseif verdicts[index] ~= 'allowed' and stop ~= 'rejected' then
    stop = verdicts[index]
  end
end
if p.counting then
  local counts = {}
  for index, kind in ipairs(p.kinds) do counts[index] = undecided[kind] or 0 end
  return { 'counted', counts, stop or '' }
end
for index, count in ipairs(p.later or {}) do
  local kind = p.kinds[index]
  if count > 0 then undecided[kind] = (undecided[kind] or 0) + count end
end
-- All items of a kind fit into its allowance, or none of them is allowed.
local fitting = {}
for kind, count in pairs(undecided) do
  fitting[kind] = fits(kind, count)
  if not fitting[kind] then stop = stop or 'held' end
end
for index, item in ipairs(p.items) do
  local kind, ref, subject = unpack(item)
  local is_stopped_by_others = p.whole and stop
  if verdicts[index] then
    -- This item was decided earlier.
  elseif p.whole and stop == 'rejected' then
    verdicts[index] = 'rejected'
  elseif fitting[kind] and not is_stopped_by_others then
    verdicts[index] = 'allowed'
    redis.call('ZADD', sets('guardUsed', kind), now, names[index])
  else
    verdicts[index] = expired[names[index]] and 'heldAgain' or 'held'
    if not serial then serial, expires = open_approval(p.target, p.expiryMs) end
    hold(p.target, kind, ref, subject, expires)
  end
end
return { 'judged', verdicts }
