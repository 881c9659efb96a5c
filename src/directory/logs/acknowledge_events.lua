-- Removes delivered events from the stream. Refused events are kept for the operator.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { delivered: [id], refused: [{ id, err, description }], mostRefused }
-- RETURN {"acknowledged", number delivered, number refused}; unknown ids are ignored
local stream, counts = key('events'), key('eventCounts')
local delivered, refused = 0, 0
for _, id in ipairs(p.delivered) do delivered = delivered + redis.call('XDEL', stream, id) end
for _, refusal in ipairs(p.refused) do
  -- An entry is {id, {field, value, ...}}; its first value is the JSON of the event.
  local entry = redis.call('XRANGE', stream, refusal.id, refusal.id)[1]
  if entry then
    redis.call('XDEL', stream, refusal.id)
    redis.call('XADD', key('eventsRefused'), 'MAXLEN', p.mostRefused, '*',
      'e', entry[2][2], 'r', cjson.encode({ id = refusal.id, err = refusal.err, description = refusal.description }))
    refused = refused + 1
  end
end
if delivered > 0 then redis.call('HINCRBY', counts, 'delivered', delivered) end
if refused > 0 then redis.call('HINCRBY', counts, 'refused', refused) end
return { 'acknowledged', delivered, refused }
