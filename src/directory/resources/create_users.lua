-- Stores new users with indexes and dirty marks, and resolves references that wait for them. The ids are new, so they have no
-- groups and no marks. The values arrive in the order of the Redis commands (user-writes.ts), because sorting in Lua is slow.
-- KEYS base
-- ARGV { targets, groupsMatter }; how many users; 'family count' of each column of index entries; then id and record of each
--      user, the request of each, and of each column value and id, or ids where many may have one value
-- RETURN 'stored': all, and nobody waited for one of them | {'stored', then for each 'stored groups', these as put_user has them} |
--        {'refused', then id and reason of each who is; and nobody is stored}: 'taken family id', that of the holder, or
--        'stale': it is there already, by this very call, which was sent again
-- NEEDS entries, spread, synced
p = cjson.decode(ARGV[1])
local count = tonumber(ARGV[2])
-- Positions in ARGV: records, requests, index entries.
local first, requests, at = 4, 4 + 2 * count, 4 + 3 * count

local refusals, is_refused = { 'refused' }, {}
local function refuse(id, reason)
  if is_refused[id] then return end
  is_refused[id] = true
  refusals[#refusals + 1] = id
  refusals[#refusals + 1] = redis.call('HEXISTS', key('users'), id) == 1 and 'stale' or reason
end

-- Positions of each family's index entries in ARGV, and keys of references that may wait for these users. A shared externalId
-- identifies no user.
local indexes, references, awaited = {}, with_room(), 0
for short, digits in string.gmatch(ARGV[3], '(%S+) (%d+)') do
  local size = tonumber(digits)
  local family, last, values = FAMILIES[short] or short, at + 2 * size - 1, with_room()
  for index = 1, size do
    local value = ARGV[at + 2 * index - 2]
    values[index] = value
    if family ~= SHARED then
      awaited = awaited + 1
      references[awaited] = key('references', value)
    end
  end
  local holders = call_with('HMGET', key(family), values, 1, size)
  for index = 1, size do
    local holder, ids = holders[index], at + 2 * index - 1
    if holder and not LOOKUPS[family] then
      refuse(ARGV[ids], table.concat({ 'taken', family, holder }, ' '))
    elseif holder then
      ARGV[ids] = holder .. ',' .. ARGV[ids]
    end
  end
  indexes[#indexes + 1] = { family = family, first = at, last = last }
  at = last + 1
end
if #refusals > 1 then return refusals end

-- Each user needs one number, for its place in the order and its generation.
local number, now = redis.call('INCRBY', key('sequence'), count) - count, clock()
local since, score = string.format('%d', now), string.format('%d', 2 * SPAN + now)
local places, marks, due = with_room(), with_room(), with_room()
for user = 1, count do
  number = number + 1
  local id, text = ARGV[first + 2 * user - 2], string.format('%d', number)
  local ref, last = 'User:' .. id, 2 * user
  places[last - 1], places[last] = text, id
  marks[last - 1], marks[last] = ref, text .. ' ' .. since .. ' ' .. ARGV[requests + user - 1]
  due[last - 1], due[last] = score, ref
end

if redis.call('ZADD', key('order', 'User'), 'NX', unpack(places, 1, 2 * count)) < count then
  for at = first, requests - 1, 2 do
    local id = ARGV[at]
    if redis.call('HEXISTS', key('users'), id) == 1 then
      refuse(id, 'stale')
    else
      redis.call('ZREM', key('order', 'User'), id)
    end
  end
  return refusals
end
redis.call('HSET', key('users'), unpack(ARGV, first, requests - 1))
for _, index in ipairs(indexes) do call_with('HSET', key(index.family), ARGV, index.first, index.last) end
heed_targets()
for _, target in ipairs(p.targets) do
  redis.call('HSET', key('marks', target), unpack(marks, 1, 2 * count))
  -- A repeated call may meet a deletion of the same user; its higher priority is kept.
  redis.call('ZADD', key('dirty', target), 'LT', unpack(due, 1, 2 * count))
  redis.call('PUBLISH', base .. 'marked', target)
end

if not p.events and not any_exists(references, awaited) then return 'stored' end

do
  -- NEEDS named_groups, records, references, events
  local function references_of_call()
    local names = {}
    for _, index in ipairs(indexes) do
      for from = index.first, index.family == SHARED and 0 or index.last, 2 do
        local is_its_own = string.find(ARGV[from + 1], p.id, 1, true)
        if is_its_own then names[#names + 1] = key('references', ARGV[from]) end
      end
    end
    return names
  end

  local replies = { 'stored' }
  for user = 1, count do
    local record = ARGV[first + 2 * user - 1]
    p = cjson.decode(ARGV[1])
    p.id, p.now, p.request = ARGV[first + 2 * user - 2], string.match(record, '^%d+ (%d+)'), ARGV[requests + user - 1]
    if p.events then emit_event('User', p.id, parse(record), {}) end
    replies[user + 1] = 'stored ' .. (heal(p.id, references_of_call()) and named_groups_of(p.id) or '')
  end
  return replies
end
