-- Deletes links after the target became another tenant. Their resources count as missing: the run that forgets the links, and every
-- later run, handles these as at a new target.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, refs }
-- RETURN {"forgotten", number of links}
-- NEEDS keys (key, p), exceptions (set_exception), link_states (parse_link_head), links (unlink), synced (leave_synced)
local forgotten = 0
for _, ref in ipairs(p.refs) do
  local link = redis.call('HGET', key('links', p.target), ref)
  if link then
    local platform_id = parse_link_head(link)
    redis.call('HDEL', key('links', p.target), ref)
    set_exception(p.target, ref) -- without a reason: ends its exception
    redis.call('ZREM', key('blocked', p.target), ref)
    redis.call('HDEL', key('suspectedDrift', p.target), ref)
    redis.call('HDEL', key('observedDrift', p.target), ref)
    if platform_id then unlink(p.target, string.match(ref, '^%a+') .. ':' .. platform_id, ref) end
    leave_synced(p.target, ref)
    forgotten = forgotten + 1
  end
end
return { 'forgotten', forgotten }
