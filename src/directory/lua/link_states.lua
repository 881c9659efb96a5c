-- Derives the state of a resource from its link and mark, without a call to the platform.
-- NEEDS basis
-- Platform id and basis are the first members of a link's text (link.ts), so most links need no JSON decoding.
local function parse_link_head(link)
  local id, basis = string.match(link, '^{"id":"([^"\\]*)","b":"([^"\\]*)"')
  if id then return id, basis end
  local known = cjson.decode(link)
  return known.id, known.b
end

-- Returns whether a mark is in a list from which it is delivered to the queue.
local function is_scheduled(target, ref)
  return redis.call('ZSCORE', key('dirty', target), ref) or redis.call('ZSCORE', key('inflight', target), ref)
end

-- Returns whether a group waits for the decision about the account of a member: the member's removal is pending, and the
-- deactivation of the member is held or the member is marked. At most MOST_FOLLOWERS pending memberships are checked. A
-- group with more counts as waiting, because a sync of a group that does not wait removes members.
local FOLLOWERS_PORTION, MOST_FOLLOWERS = 500, 10000
local function has_followers(target, group)
  local cursor, checked = '0', 0
  repeat
    local found = redis.call('HSCAN', key('pendingMembers', target .. ':' .. group), cursor, 'COUNT', FOLLOWERS_PORTION)
    local signs = found[2]
    for index = 1, #signs, 2 do
      local user = 'User:' .. signs[index]
      if signs[index + 1] == '-' and (redis.call('SISMEMBER', key('guardItems', target .. ':' .. user), 'deactivate ') == 1
        or redis.call('HEXISTS', key('marks', target), user) == 1) then return true end
    end
    cursor, checked = found[1], checked + #signs / 2
    if checked >= MOST_FOLLOWERS then return true end
  until cursor == '0'
  return false
end

-- Returns why a synced resource is not written again; nil: it is in line with its link. `closed`: the account is closed or
-- out of scope. `deadLetter`, `held`, `exception`: by the condition of the link. `stale`: held, but no decision is open.
local function rest_of(target, ref, link)
  local has_condition = string.find(link, '"condition":', 1, true)
  if not has_condition and not string.find(link, '"departed":', 1, true) then return nil end
  local known = cjson.decode(link)
  if known.condition then
    if known.condition.reason == 'Held' then
      -- Without a guard item of its own or of a member, no decision of an operator can reach the resource.
      if redis.call('EXISTS', key('guardItems', target .. ':' .. ref)) == 1 then return 'held' end
      local kind, id = string.match(ref, '^(%a+):(.*)$')
      return kind == 'Group' and has_followers(target, id) and 'held' or 'stale'
    end
    return redis.call('ZSCORE', key('blocked', target), ref) and 'deadLetter' or 'exception'
  end
  return known.departed and 'closed' or nil
end

-- Returns whether a membership of the user can be written now: the user has no mark and no blocking condition.
local function is_writable(target, user, sign)
  local ref = 'User:' .. user
  if redis.call('HEXISTS', key('marks', target), ref) == 1 then return false end
  local link = redis.call('HGET', key('links', target), ref)
  local known = link and cjson.decode(link) or {}
  if known.condition or sign == 'r' then return false end
  if sign == '-' then return true end
  if not known.id or known.departed then return false end
  for _, other in ipairs(redis.call('HVALS', key('pendingGroups', target .. ':' .. user))) do
    if other == '-' then return false end
  end
  return true
end

-- Returns whether a group without a mark has pending memberships that could be written, which means that its mark was lost.
-- At most MOST_SIGNS pending memberships are checked.
local MOST_SIGNS = 500
local function is_left_behind(target, group)
  local signs = redis.call('HSCAN', key('pendingMembers', target .. ':' .. group), '0', 'COUNT', MOST_SIGNS)[2]
  for index = 1, #signs, 2 do
    local is_ours = string.sub(signs[index], 1, 1) ~= '@'
    if is_ours and is_writable(target, signs[index], signs[index + 1]) then return true end
  end
  return false
end

-- Returns the state of a stored resource without a mark; nil and the platform id: it is in line with its link.
local function settled_state(target, kind, id, stored, link, rules_read_groups)
  if not link then return 'missing' end
  local platform_id, basis = parse_link_head(link)
  if basis ~= basis_of(kind, id, stored, rules_read_groups) then return 'stale' end
  local rest = rest_of(target, kind .. ':' .. id, link)
  if rest then return rest end
  if not platform_id then return 'closed' end
  if kind == 'Group' and is_left_behind(target, id) then return 'stale' end
  return nil, platform_id
end
