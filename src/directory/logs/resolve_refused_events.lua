-- Empties the list of security events that the receiver refused, by order of an operator.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { retry (true: each event is appended to the stream of events again; false: it is dropped) }
-- RETURN {"done", number of events}
-- NEEDS keys (key, p)
local refusals = key('eventsRefused')
local found = redis.call('XRANGE', refusals, '-', '+')
for _, entry in ipairs(found) do
  local id, fields = unpack(entry)
  local _, event = unpack(fields) -- 'e', the event as JSON, 'r', the refusal as JSON
  if p.retry then redis.call('XADD', key('events'), '*', 'e', event) end
  redis.call('XDEL', refusals, id)
end
return { 'done', #found }
