-- Proves one portion of the links of a target, or of its reverse links (`linked`). A lost link is restored from its reverse
-- link. The restored link contains only the platform id, so all memberships become pending and the next sync compares all
-- values.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, targets: [target], family: links | linked, cursor, count, repair, request }
-- RETURN {"proved", next cursor, entries checked, [faults: prove_records.lua]}. lua/proof.lua: `fault` notes one, `proved` replies
-- NEEDS keys (key, p, RECONCILE), groups (groups_of), links (ref_linked_to), marks (mark), pending_groups (set_pending)
-- NEEDS proof (fault, is_deleted, is_stored, is_syncing, proved), signs (TO_ADD)
local next_cursor, entries = unpack(redis.call('HSCAN', key(p.family, p.target), p.cursor, 'COUNT', p.count))
local links, reverse_links = key('links', p.target), key('linked', p.target)

-- Returns the link of a ref; false: there is none; nil: its text cannot be read.
local function link_of(ref)
  local text = redis.call('HGET', links, ref)
  if not text then return false end
  local done, link = pcall(cjson.decode, text)
  if done and type(link) == 'table' and (link.id == nil or type(link.id) == 'string') then return link end
end

-- Makes all memberships of a user or group pending, because only the lost link recorded which of them were written.
local function readd_memberships(ref)
  local kind, id = string.match(ref, '^(%a+):(.*)$')
  if kind == 'User' then
    for _, group in ipairs(groups_of(id)) do
      set_pending(group, id, TO_ADD)
      mark('Group:' .. group, RECONCILE)
    end
  else
    -- A group may have many members, so prove_readd.lua makes them pending in portions, from the first SSCAN cursor '0' on.
    redis.call('HSET', key('readding', p.target), id, '0')
  end
  mark(ref, RECONCILE)
end

-- Proves a link: its text is readable, its resource is stored or deleted, and its platform id has a reverse link to it.
local function prove_link(ref)
  local link = link_of(ref)
  if link == nil then
    -- The proof of the reverse links follows and restores the link. Without a reverse link the sync looks the account up.
    local is_repairable = is_stored(ref) and not is_syncing(ref)
    local function repair()
      redis.call('HDEL', links, ref)
      mark(ref, RECONCILE)
    end
    return fault('links', 'damaged', ref, is_repairable and repair or nil)
  end
  local has_lost_record = not is_stored(ref) and not is_deleted(string.match(ref, ':(.*)$') or '')
  -- Redis has nothing from which a lost record could be restored, so the fault is only reported.
  if has_lost_record then fault('links', 'lost', ref) end
  local platform_key = link and link.id and string.match(ref, '^%a+') .. ':' .. link.id
  local holder = platform_key and ref_linked_to(p.target, platform_key)
  if not platform_key or holder == ref then return end
  local other = holder and link_of(holder)
  -- Two resources with one platform id: an operator decides which one keeps it.
  if other and other.id == link.id then return fault('linked', 'doubled', ref .. ' and ' .. holder) end
  -- A running sync needs no exception here: every script that stores a platform id stores this reverse link with it.
  fault('linked', holder and 'wrong' or 'missing', ref, function() redis.call('HSET', reverse_links, platform_key, ref) end)
end

-- Proves a reverse link: its ref has a link with this platform id.
local function prove_reverse_link(platform_key)
  local ref = ref_linked_to(p.target, platform_key) or ''
  local kind, id = string.match(platform_key, '^(%a+):(.+)$')
  local link = link_of(ref)
  local is_of_kind = string.match(ref, '^%a+') == kind
  if is_of_kind and link and link.id == id then return end
  if is_syncing(ref) then return end
  -- The link has no id yet: while the resource is marked, a sync may be about to store it.
  local awaits_id = link and not link.id
  if awaits_id and redis.call('HEXISTS', key('marks', p.target), ref) == 1 then return end
  if not link and is_of_kind and is_stored(ref) then
    return fault('links', 'missing', ref, function()
      redis.call('HSET', links, ref, '{"id":' .. cjson.encode(id) .. '}')
      readd_memberships(ref)
    end)
  end
  fault('linked', 'surplus', ref, function() redis.call('HDEL', reverse_links, platform_key) end)
end

for index = 1, #entries, 2 do
  if p.family == 'links' then prove_link(entries[index]) else prove_reverse_link(entries[index]) end
end
return proved(next_cursor, #entries / 2)
