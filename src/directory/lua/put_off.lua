-- Makes resources due whose sync is put off by up to a minute, because a change of another resource is held
-- (sync/names/succession.ts).
-- NEEDS keys (BEHIND_REFUSED, clock, DEACTIVATION, key, RECONCILE, SPAN), marks (requeue)

-- Most resources of each priority that are looked at; the others keep their due time.
local MOST_PUT_OFF = 500

local function make_put_off_due(target)
  for priority = DEACTIVATION, BEHIND_REFUSED do
    local from, to = string.format('(%d', priority * SPAN + clock()), string.format('(%d', (priority + 1) * SPAN)
    for _, ref in ipairs(redis.call('ZRANGEBYSCORE', key('dirty', target), from, to, 'LIMIT', 0, MOST_PUT_OFF)) do
      local link = redis.call('HGET', key('links', target), ref)
      -- A resource that waits for the name or account of one with a held change usually has the condition `Held` too (link.ts).
      local waits_for_decision = link and string.find(link, '"reason":"Held"', 1, true)
      -- The last two of these positions are no priorities: such a resource gets the lowest one.
      if waits_for_decision then requeue(target, ref, math.min(priority, RECONCILE)) end
    end
  end
end
