-- Compares fingerprints of accounts with those that were stored when the accounts were equal to their links (note_prints.lua),
-- so that a reconcile does not compare these accounts again. The comparison runs in Redis, because transferring the stored
-- fingerprints costs more.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, platformKeys: [kind:platform id, ...], prints: [fingerprint, ...] in the same order }; at most a few thousand
-- RETURN {"others", position, ...}: accounts with another or no fingerprint, with a mark, or whose link is lost; counted from 0
-- NEEDS keys (key, p)

-- Byte value of the space between ref and fingerprint (lua/links.lua).
local SPACE = 32
local others = { 'others' }
if #p.platformKeys == 0 then return others end
local linked = redis.call('HMGET', key('linked', p.target), unpack(p.platformKeys))
local links, marks = key('links', p.target), key('marks', p.target)
local has_no_marks = redis.call('EXISTS', marks) == 0
for index, stored in ipairs(linked) do
  local print = p.prints[index]
  -- `stored` is 'ref fingerprint'. Compared in place from its end, because a substring would cost more than the comparison.
  local is_equal = stored and string.byte(stored, -#print - 1) == SPACE and string.find(stored, print, -#print, true)
  if is_equal then
    local ref = string.sub(stored, 1, -#print - 2)
    -- A reconcile finds lost links because it counts fewer equal accounts than linked resources (scan/cover.ts), so an account
    -- whose link is lost is not equal.
    is_equal = redis.call('HEXISTS', links, ref) == 1 and (has_no_marks or redis.call('HEXISTS', marks, ref) == 0)
  end
  if not is_equal then others[#others + 1] = index - 1 end
end
return others
