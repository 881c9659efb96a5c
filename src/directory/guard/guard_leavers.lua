-- Returns for each member whom a group is to lose whether the removal is decided together with the deactivation of the account. A
-- leaver then needs one decision, not one for each group.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, users (their ids) }
-- RETURN {"decisions", [alone | follows | rejected | waits]}: `alone`: no deactivation is pending, or that of an inactive user was
--        rejected, so the removal is judged alone; `follows`: the deactivation is held; `rejected`: that of a deleted
--        user was rejected, so the membership stays with the account; `waits`: no sync has asked the guard for it yet
-- NEEDS keys (clock, key, p), heads (parse_head)
local now = clock()
local serial, expires = unpack(redis.call('HMGET', key('guardApproval', p.target), 'serial', 'expires'))
local of_kind = p.target .. ':deactivate'

-- A user who is not stored was deleted at the source.
local function decision(user)
  local stored, ref = redis.call('HGET', key('users'), user), 'User:' .. user
  local should_be_closed = not stored or parse_head(stored).state == 'inactive'
  if not should_be_closed then return 'alone' end
  local is_approval_open = serial and tonumber(expires) > now
  if is_approval_open then
    local place = tonumber(redis.call('ZSCORE', key('guardHeld', of_kind), ref) or 0)
    -- A place after the serial: held under the open approval. An earlier one is of an expired approval and judged again.
    if place > tonumber(serial) then return 'follows' end
  end
  -- A stored user is inactive: the source removed the user from this group alone, so the removal needs a decision of its own. A
  -- deletion removed the user from all groups, so its rejection covers this removal.
  if redis.call('ZSCORE', key('guardRejected', of_kind), ref) then return stored and 'alone' or 'rejected' end
  return redis.call('HEXISTS', key('marks', p.target), ref) == 1 and 'waits' or 'alone'
end

local decisions = {}
for index, user in ipairs(p.users) do decisions[index] = decision(user) end
return { 'decisions', decisions }
