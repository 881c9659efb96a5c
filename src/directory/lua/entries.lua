-- Index entries are [family, value]; every family but the lookups has one holder per value. Of users they have short names:
-- `m` is a userName that is an address of the user too.
local FAMILIES = { m = 'userNames', u = 'userNames', x = 'externalIds:User', e = 'emails' }
local SHARED = 'sharedExternalIds:User'
local LOOKUPS = { emails = true, [SHARED] = true }
local INDEXES = { userNames = true, ['externalIds:User'] = true, emails = true, [SHARED] = true, displayNames = true,
  ['externalIds:Group'] = true }
local function family_of(entry) return FAMILIES[entry[1]] or entry[1] end

-- The entries of a record; of a damaged one those that can still be read.
local function entries_of(record)
  local done, decoded = pcall(cjson.decode, record.entries)
  local entries = {}
  for _, entry in ipairs(done and type(decoded) == 'table' and decoded or {}) do
    local is_entry = type(entry) == 'table' and type(entry[1]) == 'string' and type(entry[2]) == 'string'
    if is_entry and INDEXES[family_of(entry)] then entries[#entries + 1] = entry end
  end
  return entries
end
