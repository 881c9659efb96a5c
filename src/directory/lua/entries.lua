-- Reads the index entries of records. An entry [family, value] says that the record is found by the value: the hash `family`
-- has the id of the resource, the holder, under the value. A value has one holder, except in lookup families, whose values
-- several users may share.

-- Short names of families in the records of users; `m` is a userName that is also an email address of the user: a look-up of an
-- email address reads `userNames` too (directory.ts).
local FAMILIES = { m = 'userNames', u = 'userNames', x = 'externalIds:User', e = 'emails' }
-- Family of an externalId that another user has too.
local SHARED = 'sharedExternalIds:User'
-- The lookup families.
local LOOKUPS = { emails = true, [SHARED] = true }
-- The families that an entry may have; entries of a damaged record may have others.
local INDEXES = { userNames = true, ['externalIds:User'] = true, emails = true, [SHARED] = true, displayNames = true,
  ['externalIds:Group'] = true }
-- Returns the full name of an entry's family.
local function family_of(entry) return FAMILIES[entry[1]] or entry[1] end

-- Returns the index entries of a record; of a damaged record those that can be read.
local function entries_of(record)
  local done, decoded = pcall(cjson.decode, record.entries)
  local entries = {}
  local has_list = done and type(decoded) == 'table'
  for _, entry in ipairs(has_list and decoded or {}) do
    local is_entry = type(entry) == 'table' and type(entry[1]) == 'string' and type(entry[2]) == 'string'
    if is_entry and INDEXES[family_of(entry)] then entries[#entries + 1] = entry end
  end
  return entries
end
