-- Notes that the next reconcile run of a target maps everything, because resources may have been synced by other rules, or
-- pushes have left no marks. `mapped:<target>` has the digest of the rules of the last run that did so, or a note: 'anew
-- number', 'returned number' after the target came back into the settings, or 'repaired number' after a repair of derived data.
-- Each note has another number, so that a run that began before the note does not end it (note_mapped.lua).
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { target, rules (digest: nothing is noted if no run mapped everything, or it did so by these rules; absent: noted in
--        any case), isBack (the target came back into the settings) }
-- RETURN {"noted"} | {"none"}: no note was needed
-- NEEDS keys (key, p)
local name = key('mapped', p.target)
local former = redis.call('GET', name) or ''
local note = string.match(former, '^repaired') or string.match(former, '^returned') or string.match(former, '^anew')
local is_needed = not p.rules or (former ~= '' and former ~= p.rules and not note)
if not is_needed then return { 'none' } end
-- `repaired` and `returned` stay, because they ask for more than `anew`.
if p.isBack and note ~= 'repaired' then note = 'returned' end
redis.call('SET', name, string.format('%s %d', note or 'anew', redis.call('INCR', key('runs'))))
return { 'noted' }
