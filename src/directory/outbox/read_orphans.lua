-- Finds resources that were deleted at the source and whose account may be open at a target. Writes nothing.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, cursor (in the tombstones), count, closes (the policy closes accounts; absent: unknown) }
-- RETURN {"read", next cursor, [ref, state, ...]}. State `orphan`: the account may be open, and there is no mark that would close
--        it. The others are those of read_coverage.lua; a resource of the state `closed` is left out
-- NEEDS keys (key, p), link_states (marked_state, parse_link_head, state_by_link), spread (call_with)
local next_cursor, tombstones = unpack(redis.call('HSCAN', key('tombstones'), p.cursor, 'COUNT', p.count))
local refs, orphans = {}, {}
for index = 1, #tombstones, 2 do
  local id, tombstone = tombstones[index], cjson.decode(tombstones[index + 1])
  refs[#refs + 1] = tombstone.kind .. ':' .. id
end
local links = #refs > 0 and call_with('HMGET', key('links', p.target), refs) or {}

-- Returns whether the resource is stored: a group may be created again under the id of a deleted one.
local function is_stored(ref)
  local kind, id = string.match(ref, '^(%a+):(.*)$')
  return redis.call('HEXISTS', key(kind == 'User' and 'users' or 'groups'), id) == 1
end

-- Returns the state of a deleted resource with a link. A link without platform id that counts as closed was left by an earlier
-- policy (sync/names/left-there.ts), and the account or group is still to be looked for.
local function state_of(ref, link)
  if redis.call('HEXISTS', key('marks', p.target), ref) == 1 then return marked_state(p.target, ref) end
  local state = state_by_link(p.target, ref, link) or 'orphan'
  if state == 'closed' and p.closes and not parse_link_head(link) then return 'orphan' end
  return state
end

for place, ref in ipairs(refs) do
  local link = links[place]
  local state = link and not is_stored(ref) and state_of(ref, link)
  if state and state ~= 'closed' then
    orphans[#orphans + 1] = ref
    orphans[#orphans + 1] = state
  end
end
return { 'read', next_cursor, orphans }
