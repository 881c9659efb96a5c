-- Returns the state of one portion of stored resources at a target: linked and synced, pending, or excluded for a known
-- reason. So an operator and a reconcile see which resources are not as desired, and why.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, targets, kind, cursor (of the scan), count, rulesReadGroups (lua/basis.lua),
--        brief (linked resources are only counted, and their reverse links are not checked),
--        closes (the policy closes accounts; absent: it does not, or is unknown),
--        inOrder (with brief: reads the ids from `order:<kind>`, and no records of ids in the `synced` set) }
-- RETURN {"read", next cursor, linked, others: [id, state, ...]}; `linked`: [id, platform id, ...], with brief their number.
--        States: pending: marked | behindHeld: marked, and waits for a held change of another resource |
--        behindRefused: marked, and waits for the removal from a group whose sync was refused |
--        stuck: marked, but neither in `dirty` nor in `inflight` | missing: neither link nor mark |
--        stale: no mark, but changed since the last sync, or held without an open decision, or a group with a pending membership
--        that can be written, or with `closes` a user out of scope whose account an earlier policy left unproven |
--        astray: its platform id has no reverse link to it |
--        deadLetter | held: by the guard | exception: the link's condition says why | closed: out of scope
-- With `brief`, ids of resources that are synced are added to the `synced` set.
-- NEEDS keys (key, p), link_states (marked_state, settled_state), links (ref_linked_to), spread (call_with)
-- NEEDS synced (name_synced, reset_synced_of_changed_targets)
local family = p.kind == 'User' and 'users' or 'groups'
-- Ids and records of this portion, in the same order, and the number of synced resources.
local ids, records, linked_count = {}, {}, 0

-- Reads one portion of `order:<kind>`: sets `ids` and `records` to those that are not in the `synced` set, and counts the
-- others.
local function read_by_order()
  -- `ordered`: [id, place, id, place, ...]
  local next_cursor, ordered = unpack(redis.call('ZSCAN', key('order', p.kind), p.cursor, 'COUNT', p.count))
  local listed = {}
  for index = 1, #ordered, 2 do listed[#listed + 1] = ordered[index] end
  local is_synced = #listed > 0 and call_with('SMISMEMBER', name_synced(p.target, p.kind), listed) or {}
  for place, id in ipairs(listed) do
    if is_synced[place] == 1 then linked_count = linked_count + 1 else ids[#ids + 1] = id end
  end
  records = #ids > 0 and call_with('HMGET', key(family), ids) or {}
  return next_cursor
end

-- Reads one portion of all records.
local function read_all()
  local next_cursor, found = unpack(redis.call('HSCAN', key(family), p.cursor, 'COUNT', p.count))
  for index = 1, #found, 2 do ids[#ids + 1], records[#records + 1] = found[index], found[index + 1] end
  return next_cursor
end

if p.brief and p.cursor == '0' then reset_synced_of_changed_targets() end
local cursor = p.inOrder and read_by_order() or read_all()
local linked, others, newly_synced = {}, {}, {}
if #ids == 0 then return { 'read', cursor, p.brief and linked_count or linked, others } end

local refs = {}
for place, id in ipairs(ids) do refs[place] = p.kind .. ':' .. id end
local links = call_with('HMGET', key('links', p.target), refs)
local has_no_marks = redis.call('EXISTS', key('marks', p.target)) == 0
local marks = has_no_marks and {} or call_with('HMGET', key('marks', p.target), refs)

-- Returns whether it is unknown which account a user out of scope has, because an earlier policy closed nothing
-- (sync/names/left-there.ts).
local function is_left_unproven(link)
  if not string.find(link, '"departed":', 1, true) then return false end
  local known = cjson.decode(link)
  return known.departed and not known.id and (known.tried or known.mayExist) and true or false
end

-- Returns the state of the resource at a place in `ids`; nil and the platform id: it is synced.
local function state_of(place)
  local id, ref = ids[place], refs[place]
  if marks[place] then return marked_state(p.target, ref) end
  local state, platform_id = settled_state(p.target, p.kind, id, records[place], links[place], p.rulesReadGroups)
  local is_unproven = state == 'closed' and p.closes and p.kind == 'User' and is_left_unproven(links[place])
  if is_unproven then return 'stale' end
  if state or p.brief then return state, platform_id end
  if ref_linked_to(p.target, p.kind .. ':' .. platform_id) ~= ref then return 'astray' end
  return nil, platform_id
end

for place, id in ipairs(ids) do
  -- An id in the order without a record is a fault of derived data, which a proof finds (proof/prove_indexes.lua).
  if records[place] then
    local state, platform_id = state_of(place)
    if state then
      others[#others + 1] = id
      others[#others + 1] = state
    elseif p.brief then
      linked_count = linked_count + 1
      local has_pending = p.kind == 'Group' and redis.call('EXISTS', key('pendingMembers', p.target .. ':' .. id)) == 1
      if not has_pending then newly_synced[#newly_synced + 1] = id end
    else
      linked[#linked + 1] = id
      linked[#linked + 1] = platform_id
    end
  end
end
if #newly_synced > 0 then call_with('SADD', name_synced(p.target, p.kind), newly_synced) end
return { 'read', cursor, p.brief and linked_count or linked, others }
