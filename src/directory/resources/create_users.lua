-- Stores new users with indexes and dirty marks, and resolves references that wait for them. The ids are new, so they have no
-- groups and no marks. The values arrive in the order of the Redis commands (user-writes.ts), because sorting in Lua is slow.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV (one batch and no calls) 1: { targets, rulesReadGroups (lua/memberships.lua), events (lua/events.lua; absent: none) };
--      2: number of users; 3: 'family number of values' of each column of index entries (lua/index_columns.lua); then id and
--      record (lua/heads.lua) of each user; then the request of each user; then for each column its values,
--      each followed by the ids of its users (joined by commas in a family whose values may be shared)
-- RETURN 'stored': all users are stored, and no reference waited for one of them |
--        {'stored', then 'stored groups' of each user, with the groups as put_user.lua returns them} |
--        {'refused', then id and reason of each refused user}: no user is stored. Reasons: 'taken family id', with the id of
--        the holder; 'stale': an earlier attempt of this call has stored the user, who may be deleted since
-- STEPS  1. Refuse the batch for taken values, tombstones, or places of an earlier attempt. Nothing of a refused batch stays.
--        2. Store records, index entries and marks of all users, one command for each key.
--        3. Add the users to groups that wait for them, and add their events. Runs rarely, so its code is included there.
-- NEEDS keys (base, clock, key, NEW, p, SPAN), index_columns (read_columns, refusals, refuse)
-- NEEDS spread (any_exists, call_with, with_room), synced (reset_synced_of_changed_targets)
p = cjson.decode(ARGV[1])
local count = tonumber(ARGV[2])
-- Positions in ARGV: records, requests, index entries.
local first, requests, at = 4, 4 + 2 * count, 4 + 3 * count

-- references: keys of references that may wait for these users; awaited: their number.
local indexes, references, awaited = read_columns(ARGV[3], at)
local has_refused = #refusals > 1 -- the first value is the tag
if has_refused then return refusals end

-- Each user needs one number, for its place in the order and its generation.
local number, now = redis.call('INCRBY', key('sequence'), count) - count, clock()
local since, score = string.format('%d', now), string.format('%d', NEW * SPAN + now)
local ids, places, marks, due = {}, with_room(), with_room(), with_room()
for user = 1, count do
  number = number + 1
  local id, place = ARGV[first + 2 * user - 2], string.format('%d', number)
  local ref, last = 'User:' .. id, 2 * user
  ids[user], places[last - 1], places[last] = id, place, id
  -- 'generation since request' (lua/mark_texts.lua); the number is generation and place at once.
  marks[last - 1], marks[last] = ref, place .. ' ' .. since .. ' ' .. ARGV[requests + user - 1]
  due[last - 1], due[last] = score, ref
end

-- A user with a tombstone was stored by an earlier attempt of this call, and deleted since.
for user, tombstone in ipairs(redis.call('HMGET', key('tombstones'), unpack(ids))) do
  if tombstone then refuse(ids[user], 'stale') end
end
if #refusals > 1 then return refusals end

-- A user that has a place was stored by an earlier attempt of this call.
local number_new = redis.call('ZADD', key('order', 'User'), 'NX', unpack(places, 1, 2 * count))
if number_new < count then
  for at = first, requests - 1, 2 do
    local id = ARGV[at]
    if redis.call('HEXISTS', key('users'), id) == 1 then
      refuse(id, 'stale')
    else
      -- The batch is refused as a whole, so the place that this user has just got is removed.
      redis.call('ZREM', key('order', 'User'), id)
    end
  end
  return refusals
end
redis.call('HSET', key('users'), unpack(ARGV, first, requests - 1))
for _, index in ipairs(indexes) do call_with('HSET', key(index.family), ARGV, index.first, index.last) end
reset_synced_of_changed_targets()
for _, target in ipairs(p.targets) do
  redis.call('HSET', key('marks', target), unpack(marks, 1, 2 * count))
  -- A repeated call may meet a deletion of the same user; its higher priority is kept.
  redis.call('ZADD', key('dirty', target), 'LT', unpack(due, 1, 2 * count))
  redis.call('PUBLISH', base .. 'marked', target)
end

local needs_more = p.events or any_exists(references, awaited)
if not needs_more then return 'stored' end

do
  -- NEEDS heal_users (heal_users)
  return heal_users(count, first, requests, indexes)
end
