-- Copies one portion of the pending removals (lua/pending_groups.lua) of a group that was deleted at the source, the former
-- group, to the group that takes its platform group over, the heir. The copies include the removals that an operator rejected
-- or that the guard holds. Members of the heir are left out. The originals end with the link of the former group, so a killed
-- sync loses nothing.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, targets: [target], former (its id), heir (its id), cursor, count }
-- RETURN {"inherited", next cursor ('0': the last portion)}
-- NEEDS keys (clock, key, p), numbers (next_number), pending_groups (set_pending)
-- NEEDS signs (KEPT_REMOVAL, TO_ADD, TO_REMOVE, UNCONFIRMED_REMOVAL)
local serial, expires = unpack(redis.call('HMGET', key('guardApproval', p.target), 'serial', 'expires'))
local is_open = serial and tonumber(expires) > clock()
local heir = 'Group:' .. p.heir

-- Adds the removal of a user from the heir to a list of the guard (lua/guard_items.lua). Without a score the list did not have
-- the removal from the former group.
local function copy(family, user, score)
  if not score then return end
  redis.call('ZADD', key(family, p.target .. ':removeMembers'), score, heir .. ' ' .. user)
  redis.call('SADD', key('guardItems', p.target .. ':' .. heir), 'removeMembers ' .. user)
end

-- Returns the score of the removal of a user from a group in a list of the guard; false: the list does not have it.
local function score_of(family, ref, user)
  return redis.call('ZSCORE', key(family, p.target .. ':removeMembers'), ref .. ' ' .. user)
end

local next_cursor, signs = unpack(redis.call('HSCAN', key('pendingMembers', p.target .. ':' .. p.former), p.cursor,
  'COUNT', p.count))
for index = 1, #signs, 2 do
  local user, sign = signs[index], signs[index + 1]
  local is_removal = sign ~= TO_ADD
  if is_removal and redis.call('SISMEMBER', key('members', p.heir), user) == 0 then
    local former = 'Group:' .. p.former
    local rejection = score_of('guardRejected', former, user)
    copy('guardRejected', user, rejection)
    -- A place after the serial: held under the open approval. An earlier one is of an expired approval and judged again.
    local place = is_open and tonumber(score_of('guardHeld', former, user) or 0) or 0
    local is_held = place > tonumber(serial or 0)
    if is_held and not score_of('guardHeld', heir, user) then
      -- The copy gets a place of its own, because places are unique.
      copy('guardHeld', user, next_number())
      -- When the approval expires, the heir is synced and its changes are judged again.
      redis.call('ZADD', key('alarms', p.target), expires, heir)
    end
    local sign_without_rejection = sign == UNCONFIRMED_REMOVAL and sign or TO_REMOVE
    set_pending(p.heir, user, rejection and KEPT_REMOVAL or sign_without_rejection)
  end
end
return { 'inherited', next_cursor }
