-- Stores a user with its indexes, heals references that waited for it and leaves a dirty mark, in one step.
-- KEYS base
-- ARGV { id, expected (0: must not exist; absent: whatever is there), now, request, targets, groupsMatter, active,
--        lane (overrules the one that follows from what happens) }, text, entries as JSON: [[short family, value], ...]
-- RETURN 'stored|unchanged version created modified groups', these as JSON [group, displayName, ...] or nothing |
--        'taken family id', that of the holder | 'stale' | 'missing'
local text, entries = texts[1], writes_short() and texts[2] or long_entries(texts[2])
local stored = redis.call('HGET', key('users'), p.id)
if not stored and p.expected ~= 0 then return 'missing' end
local record = stored and parse(stored) or { version = 0, created = p.now, entries = '', state = 'new' }
if p.expected and record.version ~= p.expected then return 'stale' end

if record.text == text then
  return table.concat({ 'unchanged', record.version, record.created, record.modified, named_groups_of(p.id, {}) }, ' ')
end

-- Members that were sent before their user: it can be found under all of these names now.
local function heal(names)
  for _, name in ipairs(names) do
    for _, reference in ipairs(redis.call('SMEMBERS', name)) do
      local group, value = string.match(reference, '^(%S+) (.*)$')
      if unawait(group, value) and join(group, p.id) then
        bump('groups', group)
        mark('Group:' .. group, 1)
      end
    end
  end
end
local is_new = record.version == 0
-- Who is new is in no group, unless one has waited.
local may_be_member = not is_new
if entries ~= record.entries then
  local wanted = cjson.decode(entries)
  local family, holder
  if is_new then
    family, holder = claim_entries(wanted, p.id)
  else
    family, holder = holder_of_another(wanted, p.id)
  end
  if family then return table.concat({ 'taken', family, holder }, ' ') end
  if not is_new then
    drop_entries(cjson.decode(record.entries), p.id)
    add_entries(wanted, p.id)
  end
  local names = { key('references', p.id) }
  for _, entry in ipairs(wanted) do
    if family_of(entry) ~= 'sharedExternalIds:User' then names[#names + 1] = key('references', entry[2]) end
  end
  if redis.call('EXISTS', unpack(names)) > 0 then
    heal(names)
    may_be_member = true
  end
end
if is_new then redis.call('ZADD', key('order', 'User'), next_number(), p.id) end
local lane = 1
if is_new then lane = 2 elseif record.state ~= 'inactive' and not p.active then lane = 0 end
local before, state = record.text, record.state
record.version, record.entries, record.text = record.version + 1, entries, text
record.state = p.active and 'active' or 'inactive'
store('users', p.id, record)
if tell then tell('User', p.id, record, { text = before, state = state }) end
mark('User:' .. p.id, p.lane or lane)
local groups = may_be_member and named_groups_of(p.id, {}) or ''
return table.concat({ 'stored', record.version, record.created, p.now, groups }, ' ')
