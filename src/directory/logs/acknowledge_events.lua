-- Removes security events that the receiver has taken from the stream `events`. Refused ones are kept in `eventsRefused` for
-- the operator. `eventCounts` counts both.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { delivered: [entry id], refused: [{ id (of the entry), err and description (of the receiver, RFC 8935 §2.4) }],
--        mostRefused (number of kept refused events) }
-- RETURN {"acknowledged", number delivered, number refused}; unknown ids are ignored
-- NEEDS keys (key, p)
local stream, counts = key('events'), key('eventCounts')
local delivered, refused = 0, 0
for _, id in ipairs(p.delivered) do delivered = delivered + redis.call('XDEL', stream, id) end
for _, refusal in ipairs(p.refused) do
  local entry = redis.call('XRANGE', stream, refusal.id, refusal.id)[1]
  if entry then
    local _, fields = unpack(entry)
    -- Fields of an entry: 'e' and the event as JSON; of a refused event also 'r' and the refusal as JSON.
    local _, event = unpack(fields)
    redis.call('XDEL', stream, refusal.id)
    redis.call('XADD', key('eventsRefused'), 'MAXLEN', p.mostRefused, '*',
      'e', event, 'r', cjson.encode({ id = refusal.id, err = refusal.err, description = refusal.description }))
    refused = refused + 1
  end
end
if delivered > 0 then
  redis.call('HINCRBY', counts, 'delivered', delivered)
  -- The failure of an earlier push is over, also for a receiver that fetches its events now.
  redis.call('HDEL', counts, 'problem')
end
if refused > 0 then redis.call('HINCRBY', counts, 'refused', refused) end
return { 'acknowledged', delivered, refused }
