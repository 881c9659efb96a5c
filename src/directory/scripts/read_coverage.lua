-- Tells of one portion of stored resources whether each is covered at a target: linked and in line with its link, on its
-- way, or known to stay as it is. Reads only.
-- KEYS base
-- ARGV { target, kind, cursor (of HSCAN), count, groupsMatter, brief (only how many are linked, astray ones among them) }
-- RETURN {"read", next cursor, [id, platform id, ...] of linked ones, or how many, [id, state, ...] of the others}; the states:
--        pending: marked | stuck: marked, and in no list that leads to the queue | missing: neither link nor mark |
--        stale: changed since the link was brought in line, and no mark | astray: nothing leads from its platform id to it |
--        deadLetter | held: by the guard | exception: the link's condition says why | closed: out of scope
-- NEEDS link_states, links, spread
local found = redis.call('HSCAN', key(p.kind == 'User' and 'users' or 'groups'), p.cursor, 'COUNT', p.count)
local entries, linked, others = found[2], {}, {}
if #entries == 0 then return { 'read', found[1], p.brief and 0 or linked, others } end

local refs = {}
for index = 1, #entries, 2 do refs[#refs + 1] = p.kind .. ':' .. entries[index] end
local links = call_with('HMGET', key('links', p.target), refs)
local is_quiet = redis.call('EXISTS', key('marks', p.target)) == 0
local marks = is_quiet and {} or call_with('HMGET', key('marks', p.target), refs)

local function state_of(id, ref, stored, link, pending)
  if pending then return is_scheduled(p.target, ref) and 'pending' or 'stuck' end
  if not link then return 'missing' end
  local platform_id, basis = parse_link_head(link)
  if basis ~= basis_of(p.kind, id, stored, p.groupsMatter) then return 'stale' end
  local rest = rest_of(p.target, ref, link)
  if rest then return rest end
  if not platform_id then return 'closed' end
  if p.brief then return nil, platform_id end
  if holder_of_way(p.target, p.kind .. ':' .. platform_id) ~= ref then return 'astray' end
  return nil, platform_id
end

local count = 0
for position, ref in ipairs(refs) do
  local id = entries[2 * position - 1]
  local state, platform_id = state_of(id, ref, entries[2 * position], links[position], marks[position])
  if state then
    others[#others + 1] = id
    others[#others + 1] = state
  elseif p.brief then
    count = count + 1
  else
    linked[#linked + 1] = id
    linked[#linked + 1] = platform_id
  end
end
return { 'read', found[1], p.brief and count or linked, others }
