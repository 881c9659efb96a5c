-- Empties the list of refused events: with `retry` each is appended to the stream of events again.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { retry }
-- RETURN {"done", number of events}
local refusals = key('eventsRefused')
local found = redis.call('XRANGE', refusals, '-', '+')
for _, entry in ipairs(found) do
  -- An entry is {id, {field, value, ...}}; its first value is the JSON of the event.
  if p.retry then redis.call('XADD', key('events'), '*', 'e', entry[2][2]) end
  redis.call('XDEL', refusals, entry[1])
end
return { 'done', #found }
