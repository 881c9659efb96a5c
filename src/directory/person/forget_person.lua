-- Removes the stored data of a deleted user at every target: tombstone, links, marks, dead letters, held changes,
-- exceptions, and pending memberships. Marks the groups with a pending membership of the user, so that their next sync ends
-- a condition about the user. The accounts at the platforms are not touched.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { ref, id, targets, request }
-- RETURN {"forgotten", number of tombstones, links, held changes, dead letters} | {"pushed"}: the user is stored again, because
--        the source pushed it | {"busy"}: a sync of the user is running
-- NEEDS keys (clock, EDIT, key, p), exceptions (set_exception), guard_items (drop_item, guard_close)
-- NEEDS heirs (MAY_BE_FREE, wake_heirs), link_states (parse_link_head), links (unlink), marks (mark_by_order), synced (leave_synced)
if redis.call('HEXISTS', key('users'), p.id) == 1 then return { 'pushed' } end
for _, target in ipairs(p.targets) do
  if redis.call('EXISTS', key('lease', target .. ':' .. p.ref)) == 1 then return { 'busy' } end
end

-- Numbers of removed links, held changes and dead letters.
local links, held, dead_letters = 0, 0, 0

-- Removes the changes of the user that the guard holds or that were approved or rejected (lua/guard_items.lua).
local function drop_held(target)
  for _, entry in ipairs(redis.call('SMEMBERS', key('guardItems', target .. ':' .. p.ref))) do
    local kind, subject = string.match(entry, '^(%S+) (.*)$')
    held = held + drop_item(target, p.ref, kind, subject).guardHeld
  end
  redis.call('SREM', key('guardWaiting', target), p.ref)
end

-- Removes the pending memberships of the user (lua/pending_groups.lua) with the guard's decisions about them.
local function drop_pending(target)
  local pending = key('pendingGroups', target .. ':' .. p.id)
  for _, group in ipairs(redis.call('HKEYS', pending)) do
    redis.call('HDEL', key('pendingMembers', target .. ':' .. group), p.id)
    redis.call('SREM', key('unsentMembers', target .. ':' .. group), p.id)
    redis.call('SREM', key('takenOutMembers', target .. ':' .. group), p.id)
    held = held + drop_item(target, 'Group:' .. group, 'removeMembers', p.id).guardHeld
    mark_by_order(target, 'Group:' .. group, EDIT, clock())
  end
  redis.call('DEL', pending)
end

-- Removes the link and the reverse link of the user (lua/links.lua).
local function drop_link(target)
  local link = redis.call('HGET', key('links', target), p.ref)
  if not link then return end
  local platform_id = parse_link_head(link)
  if platform_id then unlink(target, 'User:' .. platform_id, p.ref) end
  redis.call('HDEL', key('links', target), p.ref)
  links = links + 1
end

for _, target in ipairs(p.targets) do
  drop_link(target)
  drop_held(target)
  drop_pending(target)
  -- The other families in which a ref can be (keys.ts).
  for _, family in ipairs({ 'marks', 'deliveries', 'suspectedDrift', 'observedDrift' }) do
    redis.call('HDEL', key(family, target), p.ref)
  end
  for _, family in ipairs({ 'dirty', 'inflight', 'accepted', 'alarms' }) do redis.call('ZREM', key(family, target), p.ref) end
  redis.call('DEL', key('handover', target .. ':' .. p.ref))
  redis.call('ZREM', key('handovers', target), p.ref)
  dead_letters = dead_letters + redis.call('ZREM', key('blocked', target), p.ref)
  leave_synced(target, p.ref)
  set_exception(target, p.ref, nil)
  guard_close(target)
  wake_heirs(target, p.ref, MAY_BE_FREE) -- resources that wait for the name or account of the user
end
return { 'forgotten', redis.call('HDEL', key('tombstones'), p.id), links, held, dead_letters }
