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

-- The users that member values mean, by value. A value is a user's id; some providers send its externalId or userName instead.
-- One that several people share means none of them: a wrong guess would give somebody the rows of another.
local function resolve_all(values)
  local users, names, folded = {}, {}, {}
  for _, value in ipairs(values) do
    if redis.call('HEXISTS', key('users'), value) == 1 then users[value] = value
    else
      names[#names + 1] = value
      folded[#folded + 1] = p.folded[value] or value
    end
  end
  if #names == 0 then return users end
  local named = call_with('HMGET', key('userNames'), folded)
  local shared = call_with('HMGET', key('sharedExternalIds:User'), names)
  local external = call_with('HMGET', key('externalIds:User'), names)
  for place, value in ipairs(names) do
    users[value] = not shared[place] and external[place] or named[place] or nil
  end
  return users
end

-- Steps of one push may undo each other: what counts for the version is where they end.
local net, members = {}, false
local function count(by, whom) net[whom] = (net[whom] or 0) + by end

local function leave(value)
  if unawait(p.id, value) then count(-1, value) end
end

local function step_with(kind, values)
  local users = resolve_all(values)
  local found = {}
  for _, value in ipairs(values) do found[#found + 1] = users[value] end
  if kind == 'remove' then
    local parted = {}
    for _, user in ipairs(part_all(p.id, found)) do
      parted[user] = true
      count(-1, user)
    end
    for _, value in ipairs(values) do
      if not parted[users[value]] then leave(value) end
    end
    return
  end
  if kind == 'replace' then
    local wanted, surplus = {}, {}
    for _, value in ipairs(values) do wanted[users[value] or value] = true end
    for _, user in ipairs(redis.call('SMEMBERS', key('members', p.id))) do
      if not wanted[user] then surplus[#surplus + 1] = user end
    end
    for _, user in ipairs(part_all(p.id, surplus)) do count(-1, user) end
    for _, value in ipairs(redis.call('HKEYS', key('unresolved', p.id))) do
      if not wanted[value] then leave(value) end
    end
  end
  for _, user in ipairs(join_all(p.id, found)) do count(1, user) end
  for _, value in ipairs(values) do
    if not users[value] and await(p.id, value, p.folded[value] or value) then count(1, value) end
  end
end

for _, step in ipairs(p.steps) do step_with(step.kind, step.values) end

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
heed_targets()
if changed or next(net) then mark('Group:' .. p.id, p.lane) end
return table.concat({ changed and 'stored' or 'unchanged', record.version, record.created, record.modified }, ' ')
