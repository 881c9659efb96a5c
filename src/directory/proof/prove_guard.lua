-- Proves one portion of the guard's held, approved or rejected items, or of `guardItems` of a resource: each item ('ref' or
-- 'ref subject') is an entry ('kind subject') of `guardItems` of its resource, and each entry there has an item
-- (lua/guard_items.lua).
-- KEYS key base. lua/keys.lua explains these header lines, `p` (the arguments), `key`, `clock` and unexplained arguments
-- ARGV { target, family: guardHeld | guardApproved | guardRejected | guardItems,
--        id (kind of the items; for guardItems a ref), cursor, count, repair }
-- RETURN {"proved", next cursor, entries checked, [faults: prove_records.lua]}. lua/proof.lua: `fault` notes one, `proved` replies
-- NEEDS proof
local is_of_resource = p.family == 'guardItems'
local name = key(p.family, p.target .. ':' .. p.id)
local next_cursor, entries = unpack(redis.call(is_of_resource and 'SSCAN' or 'ZSCAN', name, p.cursor, 'COUNT', p.count))

-- Proves an entry of `guardItems`: one of the three lists has its item. An entry of another form than 'kind subject' has none.
local function prove_entry(entry)
  local kind, subject = string.match(entry, '^(%S+) (.*)$')
  local item = subject == '' and p.id or p.id .. ' ' .. tostring(subject)
  for _, family in ipairs({ 'guardHeld', 'guardApproved', 'guardRejected' }) do
    if kind and redis.call('ZSCORE', key(family, p.target .. ':' .. kind), item) then return end
  end
  fault('guardItems', 'surplus', p.id, function() redis.call('SREM', name, entry) end, p.id .. ' ' .. entry)
end

-- Proves an item of a list: `guardItems` of its resource has its entry.
local function prove_item(item)
  local ref, subject = string.match(item, '^(%S+) ?(.*)$')
  if not ref then return end -- names no resource, so no `guardItems` can have it
  local items_of_ref, entry = key('guardItems', p.target .. ':' .. ref), p.id .. ' ' .. subject
  if redis.call('SISMEMBER', items_of_ref, entry) == 1 then return end
  fault('guardItems', 'missing', ref, function() redis.call('SADD', items_of_ref, entry) end, ref .. ' ' .. entry)
end

-- SSCAN returns members; ZSCAN returns each member with its score.
local step = is_of_resource and 1 or 2
for index = 1, #entries, step do
  if is_of_resource then prove_entry(entries[index]) else prove_item(entries[index]) end
end
return proved(next_cursor, #entries / step)
