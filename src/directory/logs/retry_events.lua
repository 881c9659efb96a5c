-- Appends refused events to the stream again, or deletes them.
-- KEYS base
-- ARGV { retry }
-- RETURN {"done", how many}
local refusals = key('eventsRefused')
local found = redis.call('XRANGE', refusals, '-', '+')
for _, entry in ipairs(found) do
  if p.retry then redis.call('XADD', key('events'), '*', 'e', entry[2][2]) end
  redis.call('XDEL', refusals, entry[1])
end
return { 'done', #found }
