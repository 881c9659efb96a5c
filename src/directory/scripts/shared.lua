-- Put before every script: key names, records, memberships and marks, written once.
-- KEYS[1] is the base of the connection's keys. Of the call that is done: its named arguments, and the texts behind them.
local base = KEYS[1]
local p, texts
-- A dirty score is lane * SPAN + due milliseconds: lanes sort first, then age.
local SPAN = 10000000000000

-- What the calls of one command share is looked up once: names, the time, which stands still for it, and numbers.
local families = {}
local function key(family, id)
  if id then return base .. family .. ':' .. id end
  local name = families[family] or base .. family
  families[family] = name
  return name
end

local now_ms
local function clock()
  if now_ms then return now_ms end
  local time = redis.call('TIME')
  now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
  return now_ms
end

-- As text: what is a number here is written out digit by digit for every command. Each is higher than those before it; what
-- a command takes and does not need is never used.
local NUMBERS_AT_ONCE = 8
local number, last_number = 0, 0
local function next_number()
  if number == last_number then
    last_number = redis.call('INCRBY', key('sequence'), NUMBERS_AT_ONCE)
    number = last_number - NUMBERS_AT_ONCE
  end
  number = number + 1
  return string.format('%d', number)
end

-- A stored record: 'version created modified state entries', a line break, the text. `entries` are the index entries
-- of the record as JSON, so that a writer need not read the old resource to know which of them go.
-- Answers all but the text, and where it begins: it is long, so who does not need it does not take it out.
local function parse_head(stored)
  local version, created, modified, state, entries, at =
    string.match(stored, '^(%d+) (%d+) (%d+) (%S+) ([^\n]*)\n()')
  return { version = tonumber(version), created = created, modified = modified, state = state, entries = entries }, at
end

local function parse(stored)
  local record, at = parse_head(stored)
  record.text = string.sub(stored, at)
  return record
end

-- What stands before the text of a record that is written now.
local function head_of(record)
  return record.version .. ' ' .. record.created .. ' ' .. p.now .. ' ' .. record.state .. ' ' .. record.entries .. '\n'
end

local function store(family, id, record)
  redis.call('HSET', key(family), id, head_of(record) .. record.text)
end

-- Tells receivers of security events of a change (telling.lua); nil where the connection has events off. `record` as it
-- is stored now; `was` { text, state: as they were; method: how it changed, if not as the request says; members: whether
-- they changed; what: `delete` }.
local tell

-- A new version of a record whose text stays the same (its members changed).
local function bump(family, id)
  local stored = redis.call('HGET', key(family), id)
  if stored then
    local record = parse(stored)
    record.version = record.version + 1
    store(family, id, record)
    if tell then tell('Group', id, record, { text = record.text, method = 'patch', members = true }) end
  end
end

-- Memberships, index entries and links are kept in a shorter form than they once were (ADR 0014). A process of the version
-- before can not read it, so where one has been, the short form is written only when all of them have had time to go.
-- What is stored is read in both forms.
local TURNOVER_MS = 3600 * 1000
local short_from
local function writes_short()
  short_from = short_from or redis.call('GET', key('forms'))
  if not short_from then
    local is_new = redis.call('EXISTS', key('users'), key('groups')) == 0
    short_from = is_new and '0' or string.format('%d', clock() + TURNOVER_MS)
    redis.call('SET', key('forms'), short_from)
  end
  return short_from == '0' or tonumber(short_from) <= clock()
end

-- Marks a ref as not yet equal at the target. The oldest time of acceptance stays, the generation is new.
-- A job that still waits in the queue will read this change, unless the change is more urgent than the job.
local told = {}
local function enqueue(target, ref, score)
  redis.call('ZADD', key('dirty', target), string.format('%d', score), ref)
  -- Nobody hears of it before the command is over.
  if not told[target] then redis.call('PUBLISH', base .. 'marked', target) end
  told[target] = true
end

local function dirty_score(target, ref)
  local score = redis.call('ZSCORE', key('dirty', target), ref)
  return score and tonumber(score)
end

local function make_due(target, ref, lane, due)
  -- A ref that waits in a more urgent lane stays there; it only becomes due earlier.
  local score = dirty_score(target, ref)
  if score then
    lane = math.min(lane, math.floor(score / SPAN))
    due = math.min(due, score % SPAN)
  end
  enqueue(target, ref, lane * SPAN + due)
end

-- The lane of the job that waits in the queue for a ref; nil when none waits (none, or one that runs: '- lane').
local function waiting_lane(target, ref)
  local ticket = redis.call('HGET', key('tickets', target), ref)
  return ticket and tonumber(string.match(ticket, '^%d+ (%d+)$'))
end

-- Whether the account behind a user's link may be active, as far as we know.
local function is_open(target, ref)
  local link = redis.call('HGET', key('links', target), ref)
  if not link then return false end
  local known = cjson.decode(link)
  for _, name in ipairs(known.unsure or {}) do if name == 'active' then return true end end
  local core = known.core or known.c or {}
  return known.id ~= nil and core.active ~= false and core.a ~= false
end

-- A deactivation counts for the guard from the moment it is accepted, unless it is held or approved already.
local function announce(target, ref)
  local of_kind = target .. ':deactivate'
  if not is_open(target, ref) or redis.call('ZSCORE', key('guardStaged', of_kind), ref) then return end
  if redis.call('ZSCORE', key('guardApproved', of_kind), ref) then return end
  redis.call('SADD', key('guardWaiting', target), ref)
end

-- A staged plan is over when nothing is left in it.
local function guard_close(kinds)
  for _, kind in ipairs(kinds) do
    if redis.call('EXISTS', key('guardStaged', p.target .. ':' .. kind)) == 1 then return end
  end
  redis.call('DEL', key('guardPlan', p.target))
end

local function mark_at(target, ref, lane, now, due)
  local held = redis.call('HGET', key('marks', target), ref)
  local since = held and string.match(held, '^%d+ (%d+)') or string.format('%d', now)
  redis.call('HSET', key('marks', target), ref, next_number() .. ' ' .. since .. ' ' .. (p.request or '-'))
  if lane == 0 then announce(target, ref) end
  due = due or now
  if not held then
    -- Neither a job nor the dirty set knows a ref without a mark, and only such a ref can be blocked.
    redis.call('ZREM', key('blocked', target), ref)
    return enqueue(target, ref, lane * SPAN + due)
  end
  -- It waits in this lane or a more urgent one and is due: the relay has been told, or it has handed it to the queue.
  local score = dirty_score(target, ref)
  if score and math.floor(score / SPAN) <= lane and score % SPAN <= due then return end
  local waiting = waiting_lane(target, ref)
  if waiting and waiting <= lane then return end
  make_due(target, ref, lane, due)
end

-- For a ref that is likely to be without a mark, and can not be blocked.
local function mark_first(ref, lane)
  local now = clock()
  local since = string.format('%d', now)
  for _, target in ipairs(p.targets) do
    local text = next_number() .. ' ' .. since .. ' ' .. (p.request or '-')
    if redis.call('HSETNX', key('marks', target), ref, text) == 1 then
      enqueue(target, ref, lane * SPAN + now)
    else
      mark_at(target, ref, lane, now)
    end
  end
end

local function mark(ref, lane)
  local now = clock()
  for _, target in ipairs(p.targets) do mark_at(target, ref, lane, now) end
end

-- Makes a ref that is marked already due now; nothing new happened to it, so its generation stays.
local function wake(target, ref, lane)
  if redis.call('HEXISTS', key('marks', target), ref) == 0 then return end
  if waiting_lane(target, ref) then return end
  make_due(target, ref, lane, clock())
end

-- A removal is done or taken back: who waited for it looks again, the user and the groups that are to take the user in.
local function end_removal(target, group, user)
  wake(target, 'User:' .. user, 1)
  local now = clock()
  for _, other in ipairs(redis.call('HKEYS', key('owed', target .. ':' .. user))) do
    if other ~= group then mark_at(target, 'Group:' .. other, 1, now) end
  end
end

-- Notes at every target that a membership must be added ('+') or removed ('-').
local function owe(group, user, sign)
  for _, target in ipairs(p.targets) do
    local owed = key('owed', target .. ':' .. user)
    local is_taken_back = sign == '+' and redis.call('HGET', owed, group) == '-'
    redis.call('HSET', key('memberMarks', target .. ':' .. group), user, sign)
    redis.call('HSET', owed, group, sign)
    if is_taken_back then end_removal(target, group, user) end
  end
end

-- Who left a while ago still belongs to what a share of the guard refers to.
local GONE_MS = 31 * 24 * 3600 * 1000
local function note_gone(kind, id)
  local now = clock()
  redis.call('ZREMRANGEBYSCORE', key('gone', kind), '-inf', now - GONE_MS)
  redis.call('ZADD', key('gone', kind), now, id)
end

-- Lookups that are not unique hold ids joined by commas.
local function drop_lookup(family, value, id)
  local held = ',' .. (redis.call('HGET', key(family), value) or '') .. ','
  local from, to = string.find(held, ',' .. id .. ',', 1, true)
  if not from then return end
  local rest = string.sub(held, 1, from) .. string.sub(held, to + 1)
  if rest == ',' then return redis.call('HDEL', key(family), value) end
  redis.call('HSET', key(family), value, string.sub(rest, 2, -2))
end

-- Whoever adds an id has dropped it before: it is not in there.
local function add_lookup(family, value, id)
  if redis.call('HSETNX', key(family), value, id) == 1 then return end
  redis.call('HSET', key(family), value, redis.call('HGET', key(family), value) .. ',' .. id)
end

-- The groups that a user is in: the short form is a lookup, the former one a set for each user.
local function groups_of(user)
  local held = redis.call('HGET', key('groupsOf'), user)
  if not held then return redis.call('SMEMBERS', key('memberships', user)) end
  local groups = {}
  for group in string.gmatch(held, '[^,]+') do groups[#groups + 1] = group end
  return groups
end

-- JSON [group, displayName, group, displayName, ...], or nothing. The calls of one command look a name up once: who asks
-- for names renames nothing.
local named = {}
local function named_groups_of(user)
  local found = {}
  for at, group in ipairs(groups_of(user)) do
    if not named[group] then
      local name = redis.call('HGET', key('groupNames'), group) or ''
      named[group] = cjson.encode(group) .. ',' .. cjson.encode(name)
    end
    found[at] = named[group]
  end
  return #found > 0 and '[' .. table.concat(found, ',') .. ']' or ''
end

local function shorten_groups_of(user)
  local former = key('memberships', user)
  if redis.call('EXISTS', former) == 0 then return end
  for _, group in ipairs(redis.call('SMEMBERS', former)) do add_lookup('groupsOf', user, group) end
  redis.call('DEL', former)
end

local function add_group_of(user, group)
  if not writes_short() then return redis.call('SADD', key('memberships', user), group) end
  shorten_groups_of(user)
  add_lookup('groupsOf', user, group)
end

local function drop_group_of(user, group)
  if not writes_short() then return redis.call('SREM', key('memberships', user), group) end
  shorten_groups_of(user)
  drop_lookup('groupsOf', user, group)
end

-- Adds or removes one membership in both directions; answers whether anything changed.
local function join(group, user)
  if redis.call('SADD', key('members', group), user) == 0 then return false end
  add_group_of(user, group)
  redis.call('INCR', key('memberCount'))
  owe(group, user, '+')
  if p.groupsMatter then mark('User:' .. user, 1) end
  return true
end

local function part(group, user)
  if redis.call('SREM', key('members', group), user) == 0 then return false end
  drop_group_of(user, group)
  redis.call('DECR', key('memberCount'))
  owe(group, user, '-')
  if p.groupsMatter then mark('User:' .. user, 1) end
  return true
end

-- The way back from a platform id is `ref`, or `ref print`: see drift.ts.
local function holder_of_way(target, way)
  local held = redis.call('HGET', key('linked', target), way)
  return held and string.match(held, '^%S+'), held
end

-- The link is written: how its account looked when it was equal to the link says nothing any more.
local function forget_print(target, way, ref)
  local holder, held = holder_of_way(target, way)
  if holder == ref and held ~= ref then redis.call('HSET', key('linked', target), way, ref) end
end

-- The way back from a platform id belongs to whoever holds it now.
local function unlink(target, platform, ref)
  if holder_of_way(target, platform) == ref then redis.call('HDEL', key('linked', target), platform) end
end

-- The worker has noted in the link what was doubted; a newer note stays for the next look.
local function clear_doubts(target, ref, read)
  if read and redis.call('HGET', key('doubts', target), ref) == read then redis.call('HDEL', key('doubts', target), ref) end
end

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

-- A member value whose user is not there yet, findable under the value itself and under its folded form.
local function await(group, value, folded)
  if redis.call('HSETNX', key('unresolved', group), value, folded) == 0 then return false end
  redis.call('SADD', key('references', value), group .. ' ' .. value)
  redis.call('SADD', key('references', folded), group .. ' ' .. value)
  return true
end

local function unawait(group, value)
  local folded = redis.call('HGET', key('unresolved', group), value)
  if not folded then return false end
  redis.call('HDEL', key('unresolved', group), value)
  redis.call('SREM', key('references', value), group .. ' ' .. value)
  redis.call('SREM', key('references', folded), group .. ' ' .. value)
  return true
end

-- Index entries are [family, value]; every family but the lookups has one holder per value. Of users they have short names:
-- `m` is a userName that is an address of the user too.
local FAMILIES = { m = 'userNames', u = 'userNames', x = 'externalIds:User', e = 'emails' }
local LOOKUPS = { emails = true, ['sharedExternalIds:User'] = true }
local function family_of(entry) return FAMILIES[entry[1]] or entry[1] end

local function holder_of_another(entries, id)
  for _, entry in ipairs(entries) do
    local family = family_of(entry)
    local holder = not LOOKUPS[family] and redis.call('HGET', key(family), entry[2])
    if holder and holder ~= id then return family, holder end
  end
end

local function drop_entries(entries, id)
  for _, entry in ipairs(entries) do
    local family = family_of(entry)
    if LOOKUPS[family] then drop_lookup(family, entry[2], id) else redis.call('HDEL', key(family), entry[2]) end
  end
end

local function add_entries(entries, id)
  for _, entry in ipairs(entries) do
    local family = family_of(entry)
    if LOOKUPS[family] then add_lookup(family, entry[2], id) else redis.call('HSET', key(family), entry[2], id) end
  end
end

-- The entries of who had none before. Answers the family and the holder of a value that another one has; then none is added.
local function claim_entries(entries, id)
  for at, entry in ipairs(entries) do
    local family = family_of(entry)
    if LOOKUPS[family] then
      add_lookup(family, entry[2], id)
    elseif redis.call('HSETNX', key(family), entry[2], id) == 0 then
      local holder = redis.call('HGET', key(family), entry[2])
      if holder ~= id then
        drop_entries({ unpack(entries, 1, at - 1) }, id)
        return family, holder
      end
    end
  end
end

-- Members that were sent before their user: it can be found under these entries now. An externalId that is shared says
-- nothing of who somebody is. Answers whether somebody waited.
local function heal(user, entries)
  local names = {}
  for _, entry in ipairs(entries) do
    if family_of(entry) ~= 'sharedExternalIds:User' then names[#names + 1] = key('references', entry[2]) end
  end
  if #names == 0 or redis.call('EXISTS', unpack(names)) == 0 then return false end
  for _, name in ipairs(names) do
    for _, reference in ipairs(redis.call('SMEMBERS', name)) do
      local group, value = string.match(reference, '^(%S+) (.*)$')
      if unawait(group, value) and join(group, user) then
        bump('groups', group)
        mark('Group:' .. group, 1)
      end
    end
  end
  return true
end

-- The former form of a user's entries, as text.
local function long_entries(text)
  local entries = {}
  for _, entry in ipairs(cjson.decode(text)) do
    entries[#entries + 1] = { family_of(entry), entry[2] }
    if entry[1] == 'm' then entries[#entries + 1] = { 'emails', entry[2] } end
  end
  return cjson.encode(entries)
end

-- What all of Redis suffers from is an error of the command, so that the client looks for another server.
local function error_of_server(message)
  for _, word in ipairs({ 'READONLY', 'OOM', 'MISCONF', 'NOREPLICAS', 'MASTERDOWN' }) do
    local at = string.find(message, word .. ' ', 1, true)
    if at then return string.sub(message, at) end
  end
end

local function answer(run, at, count)
  p, texts, tell = cjson.decode(ARGV[at + 1]), { unpack(ARGV, at + 2, at + 1 + count) }, nil
  return run()
end

-- Does the calls that came together, in their order, and answers each: what fails in one says nothing of its neighbours.
-- ARGV is for each of them the count of its texts, its arguments as JSON, and the texts.
local function answer_each(run)
  local replies, at = {}, 1
  while at <= #ARGV do
    local count = tonumber(ARGV[at])
    local done, reply = pcall(answer, run, at, count)
    if not done then
      local message = type(reply) == 'table' and reply.err or tostring(reply)
      local server = error_of_server(message)
      if server then return { err = server } end
      reply = { 'failed', message }
    end
    replies[#replies + 1] = reply
    at = at + 2 + count
  end
  return replies
end
