-- Finds links of resources that are not stored any more and whose account nothing is going to close. Reads only.
-- KEYS base
-- ARGV { target, cursor (of HSCAN), count }
-- RETURN {"read", next cursor, [ref, state, ...]}; the states as read_coverage.lua has them, and
--        orphan: deleted, neither closed nor marked | recordLost: not deleted, so nothing may follow from it
-- NEEDS link_states
local found = redis.call('HSCAN', key('links', p.target), p.cursor, 'COUNT', p.count)
local entries, orphans = found[2], {}

local function is_stored(ref)
  local kind, id = string.match(ref, '^(%a+):(.*)$')
  return redis.call('HEXISTS', key(kind == 'User' and 'users' or 'groups'), id) == 1
end

local function state_of(ref, link)
  if redis.call('HEXISTS', key('tombstones'), string.match(ref, ':(.*)$')) == 0 then return 'recordLost' end
  if redis.call('HEXISTS', key('marks', p.target), ref) == 1 then
    return is_scheduled(p.target, ref) and 'pending' or 'stuck'
  end
  return rest_of(p.target, ref, link) or 'orphan'
end

for index = 1, #entries, 2 do
  local ref, link = entries[index], entries[index + 1]
  local state = not is_stored(ref) and state_of(ref, link)
  if state and state ~= 'closed' then
    orphans[#orphans + 1] = ref
    orphans[#orphans + 1] = state
  end
end
return { 'read', found[1], orphans }
