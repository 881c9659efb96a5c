-- Included in every script: names of keys, priorities, the time, and state that the calls of one batch share. House words such as
-- mark, link and held: docs/glossary.md.
--
-- The first lines of a script say what it does, then:
--   KEYS    KEYS[1] is the key base, the common start of all keys of a connection. keys.ts lists the families of keys and
--           their content; `key` builds a key.
--   ARGV    for each call its named arguments as JSON (here `p`), then its texts (`texts`); calls.lua splits ARGV.
--   RETURN  the possible replies; the first value of a reply says how the call ended.
--   STEPS   what a longer script does, in this order; with the reason where the order matters
--   NEEDS   names the parts, files of this folder, that are included in place of the line, and in brackets the names that the
--           file uses of each. An indented NEEDS line stands inside a block that rarely runs (redis/script-texts.ts).
-- Arguments that many scripts have:
--   target   name of a target; `targets`: names of all targets at which the script marks resources
--   ref      'User:<id>' or 'Group:<id>'; `kind` and `id` are its two parts
--   request  correlation id of the push or order, which a mark keeps; '-': the bridge itself
--   now      time of the push in Unix milliseconds, as all times are
--   fence    number of the lease by which a worker syncs the ref, as text; `leaseMs`: duration of the lease
--   kinds    kinds of destructive changes (guard/judge.ts)
--   cursor   where SCAN or its variants go on: '0' at the start, and in a reply at the end; `count`: size of a portion
local base = KEYS[1]
local p, texts

-- Priorities of marks: positions in PRIORITIES (records.ts). A lower number is more urgent.
local DEACTIVATION, EDIT, NEW, RECONCILE = 0, 1, 2, 3
-- For a mark behind all priorities: its last sync found that the resource waits for a change of another resource which the guard
-- holds. Such a mark is no backlog. A change or the end of the wait gives it a priority again (make_due of marks.lua).
local BEHIND_HELD = 4
-- The same for a user who waits for removals by groups whose syncs were refused, and for no held change.
local BEHIND_REFUSED = 5
-- A dirty score is priority * SPAN + due milliseconds, so marks are sorted by priority and then by due time.
local SPAN = 10000000000000

-- Built keys of families without an id.
local names = {}
-- Returns the key of a family, or of a family and an id (keys.ts).
local function key(family, id)
  if id then return base .. family .. ':' .. id end
  local name = names[family]
  if not name then
    name = base .. family
    names[family] = name
  end
  return name
end

-- Returns the time of Redis in Unix milliseconds. It is read once for each command.
local now_ms
local function clock()
  if now_ms then return now_ms end
  local seconds, microseconds = unpack(redis.call('TIME'))
  now_ms = seconds * 1000 + math.floor(microseconds / 1000)
  return now_ms
end
