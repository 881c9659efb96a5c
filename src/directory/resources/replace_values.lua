-- Replaces values of a user's plain core attributes inside the stored text, without decoding it, and marks the user.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { targets, events (lua/events.lua; absent: none) }, then id, now, request, and for each value the name of its
--      attribute and its JSON. Runs for each call of a batch; lua/together.lua stores and marks the users at the end.
-- RETURN {'stored|unchanged version created modified groups' as in put_user.lua, the stored record} | {'missing'} |
--        {'absent'}: one of the attributes has no value that could be replaced, or the record is damaged
-- NEEDS keys (DEACTIVATION, EDIT, p, texts), heads (is_sound, parse_head, written), outcomes (outcome)
-- NEEDS together (change_user, field)
p.id, p.now, p.request = texts[1], texts[2], texts[3]
local stored = field('users', p.id)
if not stored then return { 'missing' } end
local record, at = parse_head(stored)
if not is_sound(record, stored, at) then return { 'absent' } end

-- Returns the start and end of an attribute's value; no end if the value is no plain text or boolean; nil if there is no
-- value. A quote inside a string is escaped, so `"name":` always is a key. Keys of extensions cannot be confused with core
-- keys, because extensions come last and are not searched. The first ']' ends `schemas`, whose URNs would otherwise look like
-- an extension.
local function find_value(text, start, name)
  local _, colon = string.find(text, '"' .. name .. '":', start, true)
  local extension = string.find(text, ',"urn:', string.find(text, ']', start, true) or start, true)
  if not colon or (extension and extension < colon) then return nil end
  local _, last = string.find(text, '^"[^"\\]*"', colon + 1)
  if not last then _, last = string.find(text, '^true', colon + 1) end
  if not last then _, last = string.find(text, '^false', colon + 1) end
  return colon + 1, last
end

-- Joining a long text costs as much as a Redis command. The text is joined for every value but the last one, which is inserted
-- when the record is written (`written`). From the second value on, the search continues in the text with the previous value
-- inserted. It begins at 1, because that text no longer contains the head of the record.
local text, start, changed, active = stored, at, false, nil
local before, value, after -- the new value and the text around it
local FIRST_NAME = 4 -- behind id, now and request
for index = FIRST_NAME, #texts, 2 do
  if index > FIRST_NAME then text, start = before .. value .. after, 1 end
  local name, json = texts[index], texts[index + 1]
  local first, last = find_value(text, start, name)
  if not last then return { 'absent' } end
  before, value, after = string.sub(text, start, first - 1), json, string.sub(text, last + 1)
  changed = changed or string.sub(text, first, last) ~= value
  if name == 'active' then active = value == 'true' and 'active' or 'inactive' end
end
if not changed then return { outcome('unchanged', record, record.modified), stored } end

local state = record.state
record.version, record.state = record.version + 1, active or state
record.checksum = nil -- so that `written` computes it anew
local new_record = written(record, before, value, after)
local closes = active == 'inactive' and state ~= 'inactive'
local reopens = active == 'active' and state ~= 'active'
change_user(p.id, new_record, closes and DEACTIVATION or EDIT, reopens)
if p.events then
  -- NEEDS records (parse), events (emit_event)
  emit_event('User', p.id, parse(new_record), { text = string.sub(stored, at), state = state })
end
return { outcome('stored', record, p.now), new_record }
