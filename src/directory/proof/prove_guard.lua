-- Proves one portion of the items that the guard holds, or that were approved or rejected: each item is also in `guardItems` of
-- its resource, and each entry there is an item.
-- KEYS base
-- ARGV { target, family: guardHeld | guardApproved | guardRejected | guardItems, id (kind; or ref), cursor, count, repair }
-- RETURN as prove_records.lua
-- NEEDS proof
local is_held = p.family == 'guardItems'
local name = key(p.family, p.target .. ':' .. p.id)
local reply = redis.call(is_held and 'SSCAN' or 'ZSCAN', name, p.cursor, 'COUNT', p.count)

local function prove_held(entry)
  local kind, subject = string.match(entry, '^(%S+) (.*)$')
  local item = subject == '' and p.id or p.id .. ' ' .. tostring(subject)
  for _, family in ipairs({ 'guardHeld', 'guardApproved', 'guardRejected' }) do
    if kind and redis.call('ZSCORE', key(family, p.target .. ':' .. kind), item) then return end
  end
  fault('guardItems', 'surplus', p.id, function() redis.call('SREM', name, entry) end, p.id .. ' ' .. entry)
end

local function prove_item(item)
  local ref, subject = string.match(item, '^(%S+) ?(.*)$')
  if not ref then return end
  local held, entry = key('guardItems', p.target .. ':' .. ref), p.id .. ' ' .. subject
  if redis.call('SISMEMBER', held, entry) == 1 then return end
  fault('guardItems', 'missing', ref, function() redis.call('SADD', held, entry) end, ref .. ' ' .. entry)
end

local step = is_held and 1 or 2
for index = 1, #reply[2], step do
  if is_held then prove_held(reply[2][index]) else prove_item(reply[2][index]) end
end
return proved(reply[1], #reply[2] / step)
