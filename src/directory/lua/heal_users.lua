-- Adds new users to the groups that wait for them, and emits the events of these users. A reference is a member value that a
-- group got before its user was stored (references.lua). `key` and `p`: keys.lua.
-- NEEDS named_groups, records, references, events

-- Returns the keys of references to the user in `p` among the columns of index entries (index_columns.lua). In ARGV each value
-- of a column is followed by the ids of its users. A shared externalId identifies no user, so its column is skipped.
local function references_of_user(indexes)
  local names = {}
  for _, index in ipairs(indexes) do
    local last = index.family == SHARED and 0 or index.last
    for from = index.first, last, 2 do
      local is_its_own = string.find(ARGV[from + 1], p.id, 1, true)
      if is_its_own then names[#names + 1] = key('references', ARGV[from]) end
    end
  end
  return names
end

-- Returns the replies of the call: 'stored', then 'stored groups' of each user; groups are read only for a user for whom a
-- reference waited, because other new users have none. `count`: number of users. In ARGV id and record of each user start at
-- `first`, and the request ids of the users at `requests`.
local function heal_users(count, first, requests, indexes)
  local replies = { 'stored' }
  for user = 1, count do
    local record = ARGV[first + 2 * user - 1]
    p = cjson.decode(ARGV[1])
    -- The second word of a record is the time of its creation (heads.lua).
    p.id, p.now, p.request = ARGV[first + 2 * user - 2], string.match(record, '^%d+ (%d+)'), ARGV[requests + user - 1]
    if p.events then emit_event('User', p.id, parse(record), {}) end
    replies[user + 1] = 'stored ' .. (heal(p.id, references_of_user(indexes)) and named_groups_of(p.id) or '')
  end
  return replies
end
