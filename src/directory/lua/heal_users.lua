-- Adds new users to the groups that wait for them, and emits the events of these users. A reference is a member value that a
-- group got before its user was stored (references.lua).
-- NEEDS keys (key, p), entries (LOOKUPS), events (emit_event), named_groups (named_groups_of), records (parse), references (heal)

-- Returns the keys of references to the user in `p`. `indexes`: columns of ARGV, one for each index (index_columns.lua), in which each
-- value is followed by the ids of its users, joined by commas.
local function reference_keys_of_user(indexes)
  local names = {}
  for _, index in ipairs(indexes) do
    -- An email address or a shared externalId identifies no user (references.lua).
    local last = LOOKUPS[index.family] and 0 or index.last
    for from = index.first, last, 2 do
      local ids = ',' .. ARGV[from + 1] .. ','
      local is_of_user = string.find(ids, ',' .. p.id .. ',', 1, true)
      if is_of_user then names[#names + 1] = key('references', ARGV[from]) end
    end
  end
  return names
end

-- Adds each new user to the groups that wait for the user, and emits the event of the user. In ARGV, id and record of each user
-- start at `first`, and the request ids of the users at `requests`. Returns the replies of the call: 'stored', and for each of the
-- `count` users 'stored groups', with the groups as in named_groups.lua. Only users for whom a reference waited have groups.
local function heal_users(count, first, requests, indexes)
  local replies = { 'stored' }
  for user = 1, count do
    local at = first + 2 * (user - 1)
    local id, record = ARGV[at], ARGV[at + 1]
    -- `heal` and `emit_event` read the user from `p`, so each user gets a copy of the arguments of its own.
    p = cjson.decode(ARGV[1])
    p.id, p.request = id, ARGV[requests + user - 1]
    -- The second word of a record is the time of its creation (heads.lua).
    p.now = string.match(record, '^%d+ (%d+)')
    if p.events then emit_event('User', id, parse(record), {}) end
    local was_awaited = heal(id, reference_keys_of_user(indexes))
    replies[user + 1] = 'stored ' .. (was_awaited and named_groups_of(id) or '')
  end
  return replies
end
