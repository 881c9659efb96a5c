-- Returns the state of one portion of stored resources at a target: linked and in line, pending, or excluded for a known
-- reason.
-- KEYS base
-- ARGV { target, targets, kind, cursor (of the scan), count, groupsMatter, brief (linked ones are only counted, without a look
--        at their reverse link), inOrder (with brief: ids come from the order, and what is synced is not read) }
-- RETURN {"read", next cursor, [id, platform id, ...] of linked ones, or how many, [id, state, ...] of the others}; the states:
--        pending: marked | stuck: marked, and in no list that leads to the queue | missing: neither link nor mark |
--        stale: changed since the link was brought in line, and no mark | astray: nothing leads from its platform id to it |
--        deadLetter | held: by the guard | exception: the link's condition says why | closed: out of scope
-- With `brief`, resources that are in line are added to the `synced` set.
-- NEEDS link_states, links, spread, synced
local family = p.kind == 'User' and 'users' or 'groups'
local ids, records, linked_count = {}, {}, 0

-- Returns the ids of one portion of the order that are not in the `synced` set, with their records.
local function read_by_order()
  local found = redis.call('ZSCAN', key('order', p.kind), p.cursor, 'COUNT', p.count)
  local listed = {}
  for index = 1, #found[2], 2 do listed[#listed + 1] = found[2][index] end
  local is_synced = #listed > 0 and call_with('SMISMEMBER', name_synced(p.target, p.kind), listed) or {}
  for place, id in ipairs(listed) do
    if is_synced[place] == 1 then linked_count = linked_count + 1 else ids[#ids + 1] = id end
  end
  records = #ids > 0 and call_with('HMGET', key(family), ids) or {}
  return found[1]
end

local function read_all()
  local found = redis.call('HSCAN', key(family), p.cursor, 'COUNT', p.count)
  for index = 1, #found[2], 2 do
    ids[#ids + 1] = found[2][index]
    records[#records + 1] = found[2][index + 1]
  end
  return found[1]
end

if p.brief and p.cursor == '0' then reset_synced_of_changed_targets() end
local cursor = p.inOrder and read_by_order() or read_all()
local linked, others, in_line = {}, {}, {}
if #ids == 0 then return { 'read', cursor, p.brief and linked_count or linked, others } end

local refs = {}
for place, id in ipairs(ids) do refs[place] = p.kind .. ':' .. id end
local links = call_with('HMGET', key('links', p.target), refs)
local is_quiet = redis.call('EXISTS', key('marks', p.target)) == 0
local marks = is_quiet and {} or call_with('HMGET', key('marks', p.target), refs)

local function state_of(place)
  local id, ref = ids[place], refs[place]
  if marks[place] then return is_scheduled(p.target, ref) and 'pending' or 'stuck' end
  local state, platform_id = settled_state(p.target, p.kind, id, records[place], links[place], p.groupsMatter)
  if state or p.brief then return state, platform_id end
  if ref_linked_to(p.target, p.kind .. ':' .. platform_id) ~= ref then return 'astray' end
  return nil, platform_id
end

for place, id in ipairs(ids) do
  if records[place] then
    local state, platform_id = state_of(place)
    if state then
      others[#others + 1] = id
      others[#others + 1] = state
    elseif p.brief then
      linked_count = linked_count + 1
      local has_pending = p.kind == 'Group' and redis.call('EXISTS', key('pendingMembers', p.target .. ':' .. id)) == 1
      if not has_pending then in_line[#in_line + 1] = id end
    else
      linked[#linked + 1] = id
      linked[#linked + 1] = platform_id
    end
  end
end
if #in_line > 0 then call_with('SADD', name_synced(p.target, p.kind), in_line) end
return { 'read', cursor, p.brief and linked_count or linked, others }
