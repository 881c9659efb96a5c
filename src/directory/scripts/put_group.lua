-- Stores a group and changes its members, with indexes, reverse index and dirty marks, in one step.
-- KEYS base
-- ARGV { id, expected (0: must not exist; absent: whatever is there), now, request, targets, lane, groupsMatter,
--        displayName, entries: [[family, value]], steps: [{ kind: add|remove|replace, values }],
--        folded: { value: folded value } } , text (absent: keep, then without displayName and entries)
-- RETURN 'stored|unchanged version created modified' | 'taken family id', that of the holder | 'stale' | 'missing'
-- NEEDS references
local stored = redis.call('HGET', key('groups'), p.id)
if not stored and p.expected ~= 0 then return 'missing' end
local record = stored and parse(stored) or { version = 0, created = p.now, entries = '', state = 'new' }
if p.expected and record.version ~= p.expected then return 'stale' end

local before, changed = record.text, false
local is_new = texts[1] and (texts[1] ~= record.text or not is_sound(record, stored, #stored - #record.text + 1))
if is_new then
  local entries = cjson.encode(p.entries)
  if entries ~= record.entries then
    local family, holder = holder_of_another(p.entries, p.id)
    if family then return table.concat({ 'taken', family, holder }, ' ') end
    if record.version > 0 then drop_entries(entries_of(record), p.id) end
    add_entries(p.entries, p.id)
  end
  local renamed = redis.call('HGET', key('groupNames'), p.id) ~= p.displayName
  redis.call('HSET', key('groupNames'), p.id, p.displayName)
  if renamed and p.groupsMatter and record.version > 0 then
    for _, user in ipairs(redis.call('SMEMBERS', key('members', p.id))) do mark('User:' .. user, 1) end
  end
  if record.version == 0 then redis.call('ZADD', key('order', 'Group'), next_number(), p.id) end
  record.entries, record.text, record.state, changed = entries, texts[1], 'active', true
  record.checksum = nil
end

-- A member value is a user's id; some providers send its externalId or userName instead. One that several people share
-- means none of them: a wrong guess would give somebody the rows of another.
local function resolve(value)
  if redis.call('HEXISTS', key('users'), value) == 1 then return value end
  local named = redis.call('HGET', key('userNames'), p.folded[value] or value)
  if redis.call('HEXISTS', key('sharedExternalIds:User'), value) == 1 then return named or nil end
  return redis.call('HGET', key('externalIds:User'), value) or named or nil
end

-- Both answer whether something happened, and to whom.
local function add(value)
  local user = resolve(value)
  if user then return join(p.id, user), user end
  return await(p.id, value, p.folded[value] or value), value
end

local function remove(value)
  local user = resolve(value)
  if user and part(p.id, user) then return true, user end
  return unawait(p.id, value), value
end

-- Steps of one push may undo each other: what counts for the version is where they end.
local net, members = {}, false
local function count(by, happened, whom)
  if happened then net[whom] = (net[whom] or 0) + by end
end

for _, step in ipairs(p.steps) do
  if step.kind == 'replace' then
    local wanted = {}
    for _, value in ipairs(step.values) do wanted[resolve(value) or value] = true end
    for _, user in ipairs(redis.call('SMEMBERS', key('members', p.id))) do
      if not wanted[user] then count(-1, part(p.id, user), user) end
    end
    for _, value in ipairs(redis.call('HKEYS', key('unresolved', p.id))) do
      if not wanted[value] then count(-1, unawait(p.id, value), value) end
    end
  end
  for _, value in ipairs(step.values) do
    if step.kind == 'remove' then count(-1, remove(value)) else count(1, add(value)) end
  end
end

for _, sum in pairs(net) do members = members or sum ~= 0 end
changed = changed or members
if changed then
  record.version, record.modified = record.version + 1, p.now
  store('groups', p.id, record)
  if p.events then
    -- NEEDS telling
    tell('Group', p.id, record, { text = before, members = members })
  end
end
if changed or next(net) then mark('Group:' .. p.id, p.lane) end
return table.concat({ changed and 'stored' or 'unchanged', record.version, record.created, record.modified }, ' ')
