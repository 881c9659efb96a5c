-- Proves one portion of a list of guarded changes (held, approved or rejected), or of `guardItems` of a resource. Each item of a
-- list, 'ref' or 'ref subject', must have an entry 'kind subject' in `guardItems` of its resource, and each entry must have an item
-- in one of the lists (lua/guard_items.lua). Without a subject an entry is 'kind '.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, family: guardHeld | guardApproved | guardRejected | guardItems,
--        id (kind of the items; for guardItems a ref), cursor, count, repair }
-- RETURN {"proved", next cursor, entries checked, [faults: prove_records.lua]}. lua/proof.lua: `fault` notes one, `proved` replies
-- NEEDS keys (key, p), proof (fault, proved)
local is_of_resource = p.family == 'guardItems'
local name = key(p.family, p.target .. ':' .. p.id)
local next_cursor, entries = unpack(redis.call(is_of_resource and 'SSCAN' or 'ZSCAN', name, p.cursor, 'COUNT', p.count))

-- Proves an entry of `guardItems`: one of the three lists has its item. An entry of another form than 'kind subject' has none.
local function prove_entry(entry)
  local ref = p.id
  local function surplus()
    fault('guardItems', 'surplus', ref, function() redis.call('SREM', name, entry) end, ref .. ' ' .. entry)
  end
  local kind, subject = string.match(entry, '^(%S+) (.*)$')
  if not kind then return surplus() end
  local item = subject == '' and ref or ref .. ' ' .. subject
  for _, family in ipairs({ 'guardHeld', 'guardApproved', 'guardRejected' }) do
    if redis.call('ZSCORE', key(family, p.target .. ':' .. kind), item) then return end
  end
  surplus()
end

-- Checks an item of a list: the `guardItems` of the item's resource must have the entry of this item.
local function prove_item(item)
  local kind = p.id
  local ref, subject = string.match(item, '^(%S+) ?(.*)$')
  if not ref then return end -- names no resource, so no `guardItems` can have it
  local items_of_ref, entry = key('guardItems', p.target .. ':' .. ref), kind .. ' ' .. subject
  if redis.call('SISMEMBER', items_of_ref, entry) == 1 then return end
  fault('guardItems', 'missing', ref, function() redis.call('SADD', items_of_ref, entry) end, ref .. ' ' .. entry)
end

-- SSCAN returns members; ZSCAN returns each member with its score.
local step = is_of_resource and 1 or 2
for index = 1, #entries, step do
  if is_of_resource then prove_entry(entries[index]) else prove_item(entries[index]) end
end
return proved(next_cursor, #entries / step)
