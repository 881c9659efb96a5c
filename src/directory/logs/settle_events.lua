-- Takes events off the stream: what was acknowledged is gone, what the receiver refused is kept for people to see.
-- KEYS base
-- ARGV { delivered: [id], refused: [{ id, err, description }], mostRefused }
-- RETURN {"settled", delivered, refused}, both as far as they were still there
local stream, counts = key('events'), key('eventCounts')
local delivered, refused = 0, 0
for _, id in ipairs(p.delivered) do delivered = delivered + redis.call('XDEL', stream, id) end
for _, refusal in ipairs(p.refused) do
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
return { 'settled', delivered, refused }
