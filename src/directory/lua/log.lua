-- Appends entries to a chained stream: each entry has a hash over itself and the previous hash, which shows changes.
local function write_chained(stream, chain, log)
  local hash = redis.call('GET', chain) or ''
  for _, text in ipairs(log.entries) do
    hash = redis.sha1hex(hash .. text)
    redis.call('XADD', stream, 'MAXLEN', '~', log.maxEntries, '*', 'e', text, 'h', hash)
  end
  redis.call('SET', chain, hash)
  redis.call('XTRIM', stream, 'MINID', '~', clock() - log.maxAgeMs)
end

-- Appends to the provisioning log (provisioning-log.ts) even after a lost lease, because the writes did happen.
local function write_log(target, log)
  if log then write_chained(key('log', target), key('logChain', target), log) end
end
