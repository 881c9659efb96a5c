-- What a look at derived data has found (proof/walks.ts). A script looks at one portion and, where it is to repair, puts right
-- what it found in the same step: nothing can change in between.
-- NEEDS heads, entries
local found = {}

-- `what`: missing | wrong | surplus | damaged | doubled | lost. Without `repair` it is only named, whatever was ordered.
local function fault(family, what, name, repair)
  found[#found + 1] = family
  found[#found + 1] = what
  found[#found + 1] = name
  found[#found + 1] = p.repair and repair and '1' or '0'
  if p.repair and repair then repair() end
end

local RECORDS = { User = 'users', Group = 'groups' }

-- The record and its text if it is sound; false: there is none; nil: it is damaged.
local function sound_record(kind, id)
  local stored = redis.call('HGET', key(RECORDS[kind]), id)
  if not stored then return false end
  local record, at = parse_head(stored)
  if is_sound(record, stored, at) then return record, string.sub(stored, at) end
end

local function is_stored(ref)
  local kind, id = string.match(ref, '^(%a+):(.*)$')
  return RECORDS[kind] ~= nil and redis.call('HEXISTS', key(RECORDS[kind]), id) == 1
end

local function is_deleted(id) return redis.call('HEXISTS', key('tombstones'), id) == 1 end

local function has_entry(record, family, value)
  for _, entry in ipairs(entries_of(record)) do
    if entry[2] == value and family_of(entry) == family then return true end
  end
  return false
end

local function lists(held, id)
  return string.find(',' .. (held or '') .. ',', ',' .. id .. ',', 1, true) ~= nil
end

local function proved(next_cursor, seen) return { 'proved', next_cursor, seen, found } end
