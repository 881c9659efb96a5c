-- Chooses the correlation id under which the sync of a decided change logs its writes.
-- NEEDS keys (key), mark_texts (NO_REQUEST)

-- Returns the correlation id of the mark that a decision sets. An approval sets its own id (`request`); a rejection or a withdrawal
-- does so only if there is no mark. When changes of both an approval and a withdrawal share the mark, no single id is right: the
-- mark gets NO_REQUEST, which a later approval keeps.
local function request_of(target, ref, action, request)
  local mark_text = redis.call('HGET', key('marks', target), ref)
  local before = mark_text and string.match(mark_text, '^%d+ %d+ (.*)$')
  if action == 'reject' then return before or request end
  local opposite = action == 'approve' and '^withdrawal:' or '^approval:'
  local has_no_single_id = before == NO_REQUEST or before and string.find(before, opposite)
  if has_no_single_id then return NO_REQUEST end
  if action == 'approve' then return request end
  return before or request
end
