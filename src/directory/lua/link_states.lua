-- Derives the state of a resource at a target from its link and mark, without a call to the platform. `link`: the stored text
-- of the link, JSON (link.ts), with `id`, the platform id; `b`, the basis; `departed`, true for a user or group that left; and
-- `condition`, the reason why the resource is not as desired.
-- NEEDS keys (BEHIND_HELD, BEHIND_REFUSED, key, SPAN), basis (basis_of)
-- NEEDS signs (is_unmanaged, KEPT_REMOVAL, TO_REMOVE, UNCONFIRMED_REMOVAL)

-- Returns platform id and basis of a link, nil for an absent one. They come first in the text, so most links need no JSON decoding.
local function parse_link_head(link)
  local id, basis = string.match(link, '^{"id":"([^"\\]*)","b":"([^"\\]*)"')
  if id then return id, basis end
  local known = cjson.decode(link)
  return known.id, known.b
end

-- Returns the state of a resource with a mark. `pending`: it waits for delivery to the queue (`dirty`), or is delivered and not
-- done yet (`inflight`). `behindHeld`: it waits for a held change of another resource. `behindRefused`: a user waits for the
-- removal from a group whose sync was refused. `stuck`: nothing delivers it.
local function marked_state(target, ref)
  local score = redis.call('ZSCORE', key('dirty', target), ref)
  if score and tonumber(score) >= BEHIND_REFUSED * SPAN then return 'behindRefused' end
  if score and tonumber(score) >= BEHIND_HELD * SPAN then return 'behindHeld' end
  return (score or redis.call('ZSCORE', key('inflight', target), ref)) and 'pending' or 'stuck'
end

-- Returns whether the decision about a user's account may be open: its deactivation is in `guardItems`, or the user has a mark, so
-- that a sync may ask the guard.
local function is_undecided(target, user_ref)
  -- 'kind subject' (guard_items.lua); a deactivation has no subject.
  local has_guard_item = redis.call('SISMEMBER', key('guardItems', target .. ':' .. user_ref), 'deactivate ') == 1
  return has_guard_item or redis.call('HEXISTS', key('marks', target), user_ref) == 1
end

-- Returns whether a group waits for the decision about the account of a member whose removal is pending. About MOST_CHECKED pending
-- memberships are checked, CHECKED_AT_ONCE in each HSCAN. A group with more counts as waiting and not as `stale`, so that no run
-- marks it: its sync removes members.
local CHECKED_AT_ONCE, MOST_CHECKED = 500, 10000
local function waits_for_account(target, group)
  local cursor, checked = '0', 0
  repeat
    local next_cursor, signs = unpack(redis.call('HSCAN', key('pendingMembers', target .. ':' .. group), cursor,
      'COUNT', CHECKED_AT_ONCE))
    for index = 1, #signs, 2 do
      local user, sign = signs[index], signs[index + 1]
      if sign == TO_REMOVE and is_undecided(target, 'User:' .. user) then return true end
    end
    cursor, checked = next_cursor, checked + #signs / 2
    if checked >= MOST_CHECKED then return true end
  until cursor == '0'
  return false
end

-- Returns by the link why a resource without a mark is not as desired; nil: it is as desired. `closed`: the user or group left
-- (`departed`). `held`: it waits for an operator's decision. `stale`: held, but no decision is open. `deadLetter`: in the list of
-- dead letters (`blocked`). `exception`: every other condition of the link.
local function state_by_link(target, ref, link)
  -- Searching the text first spares most links the decoding.
  local has_reason = string.find(link, '"condition":', 1, true) or string.find(link, '"departed":', 1, true)
  if not has_reason then return nil end
  local known = cjson.decode(link)
  if known.condition then
    if known.condition.reason == 'Held' then
      -- Without a guard item of its own or of a member, no decision of an operator can reach the resource.
      if redis.call('EXISTS', key('guardItems', target .. ':' .. ref)) == 1 then return 'held' end
      local kind, id = string.match(ref, '^(%a+):(.*)$')
      return kind == 'Group' and waits_for_account(target, id) and 'held' or 'stale'
    end
    return redis.call('ZSCORE', key('blocked', target), ref) and 'deadLetter' or 'exception'
  end
  return known.departed and 'closed' or nil
end

-- Returns whether a pending membership of a user can be written now, as the sync of the group decides: the user has no mark and
-- no condition. No sync writes a kept or an unconfirmed removal. An addition also needs an account, and waits until no removal of
-- the user from another group is pending.
local function is_writable(target, user, sign)
  local ref = 'User:' .. user
  if redis.call('HEXISTS', key('marks', target), ref) == 1 then return false end
  local link = redis.call('HGET', key('links', target), ref)
  local known = link and cjson.decode(link) or {}
  if known.condition or sign == KEPT_REMOVAL or sign == UNCONFIRMED_REMOVAL then return false end
  if sign == TO_REMOVE then return true end
  if not known.id or known.departed then return false end
  for _, other_sign in ipairs(redis.call('HVALS', key('pendingGroups', target .. ':' .. user))) do
    if other_sign == TO_REMOVE then return false end
  end
  return true
end

-- Returns whether a group without a mark has pending memberships that could be written, which means that its mark was lost.
-- One HSCAN reads about MOST_SIGNS pending memberships; the others are not checked.
local MOST_SIGNS = 500
local function is_left_behind(target, group)
  local _, signs = unpack(redis.call('HSCAN', key('pendingMembers', target .. ':' .. group), '0', 'COUNT', MOST_SIGNS))
  for index = 1, #signs, 2 do
    local member, sign = signs[index], signs[index + 1]
    -- An unmanaged member has no link and no mark.
    if not is_unmanaged(member) and is_writable(target, member, sign) then return true end
  end
  return false
end

-- Returns the state of a stored resource without a mark: `missing` (no link), `stale` (changed without a mark, or a pending
-- membership without a mark), `closed` (it has no account or group and needs none), or a state of `state_by_link`; nil and the
-- platform id: it is synced. `stored`: its record; `link`: its text, false if there is none; `rules_read_groups`: basis.lua.
local function settled_state(target, kind, id, stored, link, rules_read_groups)
  if not link then return 'missing' end
  local platform_id, basis = parse_link_head(link)
  if basis ~= basis_of(kind, id, stored, rules_read_groups) then return 'stale' end
  local state = state_by_link(target, kind .. ':' .. id, link)
  if state then return state end
  -- A user out of scope whose account does not exist or was deleted, or a group that the settings leave out.
  if not platform_id then return 'closed' end
  if kind == 'Group' and is_left_behind(target, id) then return 'stale' end
  return nil, platform_id
end
