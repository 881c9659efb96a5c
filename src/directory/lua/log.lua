-- Removes the oldest entries of a chained stream that exceed the limits, and moves the start of the chain behind them.
-- Removes none while a whole log is read (whole-read.ts). Returns the number of removed entries.
local function trim_chained(name, id, log)
  local stream, chain, personal = key(name, id), key(name .. 'Chain', id), key(name .. 'Personal', id)
  local over, oldest_at = redis.call('XLEN', stream) - log.maxEntries, clock() - log.maxAgeMs
  local function is_due(index, entry) return index <= over or tonumber(string.match(entry[1], '^%d+')) < oldest_at end
  local first = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
  if not first or not is_due(1, first) or tonumber(redis.call('GET', key('logReaders')) or 0) > 0 then return 0 end
  local due, start = {}, nil
  -- Up to 100 entries more than were added are removed, so that a stream that is too long gets shorter. An entry is
  -- { id, { 'e', entry, 'h', hash } }.
  for index, entry in ipairs(redis.call('XRANGE', stream, '-', '+', 'COUNT', #log.entries + 100)) do
    if not is_due(index, entry) then break end
    due[index], start = entry[1], entry[2][4]
  end
  redis.call('XDEL', stream, unpack(due))
  redis.call('HDEL', personal, unpack(due))
  redis.call('HSET', chain, 'start', start)
  return #due
end

-- Appends entries to a chained stream: each entry has a hash over itself and the previous hash. The chain keeps the hash
-- before the oldest entry (`start`) and the hash of the newest one (`end`). Personal data is stored apart, by entry id; the
-- entry has a digest of it. log.entries: [[entry, its personal data or '']]. Returns the number of removed entries.
local function write_chained(name, id, log)
  local stream, chain, personal = key(name, id), key(name .. 'Chain', id), key(name .. 'Personal', id)
  local hash = #log.entries > 0 and (redis.call('HGET', chain, 'end') or '')
  for _, entry in ipairs(log.entries) do
    hash = redis.sha1hex(hash .. entry[1])
    local at = redis.call('XADD', stream, '*', 'e', entry[1], 'h', hash)
    if entry[2] ~= '' then redis.call('HSET', personal, at, entry[2]) end
  end
  if hash then redis.call('HSET', chain, 'end', hash) end
  return trim_chained(name, id, log)
end

-- Appends to the provisioning log (provisioning-log.ts) even after a lost lease, because the writes did happen.
local function write_log(target, log)
  return log and write_chained('log', target, log)
end
