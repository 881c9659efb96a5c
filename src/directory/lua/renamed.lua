-- Marks the members of a very large group that has a new name, in portions: all of them in one script would stop Redis for a
-- second. `renamed:<target>` has such groups with the cursor of the members that are still to be marked. The script that stores the
-- new name adds the group. The caller of that script marks the members; if it dies, claim_dirty.lua goes on.
-- NEEDS keys (clock, EDIT, key, p), marks (mark_at)
-- Members of one portion.
local MARKED_AT_ONCE = 250

-- Notes a renamed group at all targets; `p.targets`.
local function note_renamed(group)
  for _, target in ipairs(p.targets) do redis.call('HSET', key('renamed', target), group, '0') end
end

-- Marks one portion of the members of one group. Returns whether members are left.
local function mark_renamed(target)
  local renamed = key('renamed', target)
  -- The first of the renamed groups: the reply is [group, cursor, group, cursor, ...].
  local group, cursor = unpack(redis.call('HGETALL', renamed))
  if not group then return false end
  local next, users = unpack(redis.call('SSCAN', key('members', group), cursor, 'COUNT', MARKED_AT_ONCE))
  local now = clock()
  for _, user in ipairs(users) do mark_at(target, 'User:' .. user, EDIT, now) end
  if next == '0' then redis.call('HDEL', renamed, group) else redis.call('HSET', renamed, group, next) end
  return redis.call('EXISTS', renamed) == 1
end
