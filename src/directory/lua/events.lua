-- Adds the security event of a change (RFC 9967) to the stream `events` (ADR 0015). `p.events` is set only for connections with
-- events: { method of the request (put|patch), most (number of stored events), externalIds (whether events contain them) }.
-- NEEDS keys (clock, key, p)

-- Returns whether two decoded JSON values are equal.
local function same(one, other)
  if type(one) ~= 'table' or type(other) ~= 'table' then return one == other end
  for name, value in pairs(one) do
    if not same(value, other[name]) then return false end
  end
  for name in pairs(other) do
    if one[name] == nil then return false end
  end
  return true
end

-- Adds the paths of added, changed and removed attributes to `names` (RFC 7644 §3.5.2), and returns `names`; extension attributes
-- follow their URN.
local function add_changed_names(before, after, prefix, names)
  local function add_if_changed(name)
    local one, other = before[name], after[name]
    if same(one, other) then return end
    -- Only the name of an extension, a URN, contains a colon; its attributes are one level deeper.
    local is_extension = prefix == '' and string.find(name, ':', 1, true)
    if is_extension then
      local one_attributes, other_attributes = type(one) == 'table' and one or {}, type(other) == 'table' and other or {}
      add_changed_names(one_attributes, other_attributes, name .. ':', names)
    else
      names[#names + 1] = prefix .. name
    end
  end
  for name in pairs(after) do add_if_changed(name) end
  for name in pairs(before) do
    if after[name] == nil then add_if_changed(name) end
  end
  return names
end

-- Returns the stored resource; empty for a damaged one, so that every attribute counts as new.
local function resource_of(text)
  local done, resource = pcall(cjson.decode, text or '')
  return done and type(resource) == 'table' and resource or {}
end

-- Appends an event and removes the oldest ones over the limit; `eventCounts` counts these (`dropped`), with the time of the last
-- removal (`droppedAt`). Returns the id of the entry.
local function add_event(event)
  local at = redis.call('XADD', key('events'), '*', 'e', cjson.encode(event))
  local over = redis.call('XLEN', key('events')) - p.events.most
  if over > 0 then
    redis.call('HINCRBY', key('eventCounts'), 'dropped', over)
    redis.call('HSET', key('eventCounts'), 'droppedAt', string.format('%d', clock()))
    redis.call('XTRIM', key('events'), 'MAXLEN', p.events.most)
  end
  return at
end

-- Adds the event of one change. `record`: the stored record. `was`: { text and state before the change; method (absent: that
-- of the request); members (whether they changed); what (`delete`, for a deletion) }. The event is JSON: kind, id, what (names
-- of events), externalId, names (changed attributes), version, txn (id of the first event of the call, shared by all of them), and,
-- after `events retry`, at (time of the change in Unix milliseconds; resolve_refused_events.lua).
local function emit_event(kind, id, record, was)
  local is_new = record.version == 1
  local what = { was.what or is_new and 'create' or was.method or p.events.method }
  local event = { kind = kind, id = id, what = what, txn = p.txn }
  if p.events.externalIds then event.externalId = resource_of(record.text).externalId end
  if was.what ~= 'delete' then
    local names = add_changed_names(resource_of(was.text), resource_of(record.text), '', {})
    if was.members then names[#names + 1] = 'members' end
    table.sort(names)
    -- cjson encodes an empty list as an object, so it is left out.
    if #names > 0 then event.names = names end
    event.version = record.version
    local has_new_state = not is_new and kind == 'User' and was.state ~= record.state
    if has_new_state then
      what[2] = record.state == 'active' and 'activate' or 'deactivate'
    end
  end
  local at = add_event(event)
  p.txn = p.txn or at
end
