-- Proves one portion of the links of a target, or of `linked`, their reverse. A link that was lost is made again from its reverse
-- with the id alone: its memberships are noted to be written again, and the next sync writes whatever differs.
-- KEYS base
-- ARGV { target, targets: [target], family: links | linked, cursor, count, repair, request }
-- RETURN as prove_records.lua
-- NEEDS groups, links, pending_groups, proof
local reply = redis.call('HSCAN', key(p.family, p.target), p.cursor, 'COUNT', p.count)
local links, ways = key('links', p.target), key('linked', p.target)

-- Returns the link of a ref; false: no link; nil: damaged.
local function link_of(ref)
  local text = redis.call('HGET', links, ref)
  if not text then return false end
  local done, link = pcall(cjson.decode, text)
  if done and type(link) == 'table' and (link.id == nil or type(link.id) == 'string') then return link end
end

local function is_at_work(ref) return redis.call('EXISTS', key('lease', p.target .. ':' .. ref)) == 1 end

-- Makes all memberships pending, because only the lost link knew which of them were written.
local function readd_memberships(ref)
  local kind, id = string.match(ref, '^(%a+):(.*)$')
  if kind == 'User' then
    for _, group in ipairs(groups_of(id)) do
      set_pending(group, id, '+')
      mark('Group:' .. group, 3)
    end
  else
    -- A group may have many members: prove_readd.lua takes them in portions.
    redis.call('HSET', key('readding', p.target), id, '0')
  end
  mark(ref, 3)
end

local function prove_link(ref)
  local link = link_of(ref)
  if link == nil then
    -- With a reverse link the link is created again from it; otherwise the sync looks the account up.
    return fault('links', 'damaged', ref, is_stored(ref) and not is_at_work(ref) and function()
      redis.call('HDEL', links, ref)
      mark(ref, 3)
    end or nil)
  end
  if not is_stored(ref) and not is_deleted(string.match(ref, ':(.*)$') or '') then fault('links', 'lost', ref) end
  local way = link and link.id and string.match(ref, '^%a+') .. ':' .. link.id
  local holder = way and holder_of_way(p.target, way)
  if not way or holder == ref then return end
  local other = holder and link_of(holder)
  if other and other.id == link.id then return fault('linked', 'doubled', ref .. ' and ' .. holder) end
  fault('linked', holder and 'wrong' or 'missing', ref, function() redis.call('HSET', ways, way, ref) end)
end

local function prove_way(way)
  local ref = holder_of_way(p.target, way) or ''
  local kind, id = string.match(way, '^(%a+):(.+)$')
  local link = link_of(ref)
  if link and link.id == id and string.match(ref, '^%a+') == kind then return end
  if is_at_work(ref) then return end
  -- While the resource is marked, a sync may be about to store the id.
  if link and not link.id and redis.call('HEXISTS', key('marks', p.target), ref) == 1 then return end
  if not link and is_stored(ref) and string.match(ref, '^%a+') == kind then
    return fault('links', 'missing', ref, function()
      redis.call('HSET', links, ref, '{"id":' .. cjson.encode(id) .. '}')
      readd_memberships(ref)
    end)
  end
  fault('linked', 'surplus', ref, function() redis.call('HDEL', ways, way) end)
end

for index = 1, #reply[2], 2 do
  if p.family == 'links' then prove_link(reply[2][index]) else prove_way(reply[2][index]) end
end
return proved(reply[1], #reply[2] / 2)
