-- Collects the faults of one portion of derived data (proof/scans.ts). If `p.repair` is set, a fault is repaired at once: the
-- script is atomic, so the data cannot change between the check and the repair.
-- NEEDS keys (key, p), entries (entries_of, family_of), heads (is_sound, parse_head)

-- Faults of this portion, as `proved` returns them.
local found = {}
-- Faults that a repair cannot end, because an operator or a new push has to.
local FOR_OPERATORS = { damaged = true, doubled = true, lost = true }

-- Adds one fault to the reply. `family`: of the faulty data (keys.ts). `what`: missing | wrong | surplus (the entry is absent,
-- has another value, or belongs to nothing) | damaged (a record or link cannot be read) | doubled (two resources with the same
-- name or platform id) | lost (a record is absent to which other data belongs). `ref`: of the resource. Without a function
-- `repair` the fault is only reported. `entry` says what is faulty, by default the resource. The digest of the fault
-- lets the caller count an entry once: SCAN may return it twice, and two resources may have the same faulty entry.
local function fault(family, what, ref, repair, entry)
  local is_repaired = p.repair and repair
  local whole = table.concat({ p.target or '', family, FOR_OPERATORS[what] and what or '', entry or ref }, ' ')
  for _, part in ipairs({ family, what, ref, is_repaired and '1' or '0', string.sub(redis.sha1hex(whole), 1, 12) }) do
    found[#found + 1] = part
  end
  if is_repaired then repair() end
end

-- Family of the records of each kind.
local RECORDS = { User = 'users', Group = 'groups' }

-- Returns the record and its text; false: there is no record; nil: it is damaged.
local function sound_record(kind, id)
  local stored = redis.call('HGET', key(RECORDS[kind]), id)
  if not stored then return false end
  local record, at = parse_head(stored)
  if is_sound(record, stored, at) then return record, string.sub(stored, at) end
end

-- Returns whether the resource has a record.
local function is_stored(ref)
  local kind, id = string.match(ref, '^(%a+):(.*)$')
  return RECORDS[kind] ~= nil and redis.call('HEXISTS', key(RECORDS[kind]), id) == 1
end

-- Returns whether the source has deleted the resource, rather than that its record was lost.
local function is_deleted(id) return redis.call('HEXISTS', key('tombstones'), id) == 1 end

-- Returns whether a sync holds the lease of the ref. It may change the link, so a repair leaves the ref alone.
local function is_syncing(ref) return redis.call('EXISTS', key('lease', p.target .. ':' .. ref)) == 1 end

-- Returns whether the record has the value in this index family.
local function has_entry(record, family, value)
  for _, entry in ipairs(entries_of(record)) do
    local own_value = entry[2]
    if own_value == value and family_of(entry) == family then return true end
  end
  return false
end

-- Returns whether the comma-separated ids contain the id.
local function lists(joined_ids, id)
  return string.find(',' .. (joined_ids or '') .. ',', ',' .. id .. ',', 1, true) ~= nil
end

-- Returns the reply of a proof (prove_records.lua). `seen`: number of records, links, marks or index entries checked.
local function proved(next_cursor, seen) return { 'proved', next_cursor, seen, found } end
