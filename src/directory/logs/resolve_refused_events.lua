-- Empties the list of security events that the receiver refused, by order of an operator.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { retry (true: each event is appended to the stream of events again; false: it is dropped) }
-- RETURN {"done", number of events}
-- NEEDS keys (key, p)
local refusals = key('eventsRefused')
local found = redis.call('XRANGE', refusals, '-', '+')
for _, entry in ipairs(found) do
  local id, fields = unpack(entry)
  local _, text, _, refusal = unpack(fields) -- 'e', the event as JSON, 'r', the refusal as JSON
  if p.retry then
    -- The event gets another id, and keeps the time and the transaction that its first id told.
    local event, first_id = cjson.decode(text), cjson.decode(refusal).id
    event.at, event.txn = event.at or tonumber(string.match(first_id, '^%d+')), event.txn or first_id
    redis.call('XADD', key('events'), '*', 'e', cjson.encode(event))
  end
  redis.call('XDEL', refusals, id)
end
return { 'done', #found }
