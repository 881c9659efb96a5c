-- Writes chained streams, the form of all logs (chained-stream.ts). An entry of the stream `name:id` has the fields `e`, its
-- text as JSON, and `h`, a SHA-1 over the hash of the entry before and this text. `<name>Chain:id` has the hash before the
-- oldest entry (`start`) and the hash of the newest one (`end`). `<name>Personal:id` has the personal data of entries by entry
-- id: a random salt and JSON. The text has only a digest of it, so the data can be removed without breaking the chain.
-- `<name>First:id` has the id of the oldest entry at the first append. It stays when the log is deleted as a whole, so that the
-- check of the chain notices the deletion, also after new entries.
-- `log`: { entries: [[text, its personal data or '']], maxEntries, maxAgeMs (limits of the stream) }
-- NEEDS keys (clock, key)

-- Removes the oldest entries that exceed the limits, and moves the start of the chain behind them. Removes none while a whole
-- log is read (`wholeReads`, whole-read.ts). Returns the number of removed entries.
local function trim_chained(name, id, log)
  local stream, chain, personal = key(name, id), key(name .. 'Chain', id), key(name .. 'Personal', id)
  local over, oldest_at = redis.call('XLEN', stream) - log.maxEntries, clock() - log.maxAgeMs
  -- The first part of an entry id is the time of the entry in Unix milliseconds.
  local function is_due(index, entry) return index <= over or tonumber(string.match(entry[1], '^%d+')) < oldest_at end
  local first = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
  if first then redis.call('SETNX', key(name .. 'First', id), first[1]) end
  local is_any_due = first and is_due(1, first)
  if not is_any_due or redis.call('EXISTS', key('wholeReads')) == 1 then return 0 end
  local due, start = {}, nil
  -- Up to 100 entries more than were added are removed, so that a stream that is too long gets shorter.
  for index, entry in ipairs(redis.call('XRANGE', stream, '-', '+', 'COUNT', #log.entries + 100)) do
    if not is_due(index, entry) then break end
    local entry_id, fields = unpack(entry)
    local _, _, _, hash = unpack(fields) -- 'e', text, 'h', hash
    due[index], start = entry_id, hash
  end
  redis.call('XDEL', stream, unpack(due))
  redis.call('HDEL', personal, unpack(due))
  redis.call('HSET', chain, 'start', start)
  return #due
end

-- Appends entries to a chained stream, and removes those that exceed its limits. Returns the number of removed entries.
local function write_chained(name, id, log)
  local stream, chain, personal = key(name, id), key(name .. 'Chain', id), key(name .. 'Personal', id)
  -- Without entries the stream is only trimmed, and `hash` is false.
  local hash = #log.entries > 0 and (redis.call('HGET', chain, 'end') or '')
  for _, entry in ipairs(log.entries) do
    local text, personal_data = unpack(entry)
    hash = redis.sha1hex(hash .. text)
    local at = redis.call('XADD', stream, '*', 'e', text, 'h', hash)
    if personal_data ~= '' then redis.call('HSET', personal, at, personal_data) end
  end
  if hash then redis.call('HSET', chain, 'end', hash) end
  return trim_chained(name, id, log)
end

-- Appends to the provisioning log of a target (provisioning-log.ts), if there are entries (`log`). Scripts call it before they
-- check the lease: the platform has the writes even after a lost lease.
local function write_log(target, log)
  return log and write_chained('log', target, log)
end
