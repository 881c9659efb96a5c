-- Index entries are [family, value]. A value has one holder, except in lookup families, whose values several users may share.
-- Families of users have short names; `m` is a userName that is also an email address of the user.
-- LOOKUPS: the lookup families. INDEXES: the families that an entry may have; entries of a damaged record may have others.
local FAMILIES = { m = 'userNames', u = 'userNames', x = 'externalIds:User', e = 'emails' }
local SHARED = 'sharedExternalIds:User'
local LOOKUPS = { emails = true, [SHARED] = true }
local INDEXES = { userNames = true, ['externalIds:User'] = true, emails = true, [SHARED] = true, displayNames = true,
  ['externalIds:Group'] = true }
local function family_of(entry) return FAMILIES[entry[1]] or entry[1] end

-- Returns the index entries of a record; of a damaged record those that can be read.
local function entries_of(record)
  local done, decoded = pcall(cjson.decode, record.entries)
  local entries = {}
  for _, entry in ipairs(done and type(decoded) == 'table' and decoded or {}) do
    local is_entry = type(entry) == 'table' and type(entry[1]) == 'string' and type(entry[2]) == 'string'
    if is_entry and INDEXES[family_of(entry)] then entries[#entries + 1] = entry end
  end
  return entries
end
