-- Each entry carries a hash over itself and the hash before it, so that one that was altered or taken out is found.
local function write_chained(stream, chain, log)
  local hash = redis.call('GET', chain) or ''
  for _, text in ipairs(log.entries) do
    hash = redis.sha1hex(hash .. text)
    redis.call('XADD', stream, 'MAXLEN', '~', log.maxEntries, '*', 'e', text, 'h', hash)
  end
  redis.call('SET', chain, hash)
  redis.call('XTRIM', stream, 'MINID', '~', clock() - log.maxAgeMs)
end

-- Entries of the provisioning log (provisioning-log.ts) tell what happened, so a lost lease does not matter to them.
local function write_log(target, log)
  if log then write_chained(key('log', target), key('logChain', target), log) end
end
