-- Chooses the correlation id under which the sync of a decided change logs its writes.
-- NEEDS keys (key), mark_texts (NO_REQUEST)

-- Returns the correlation id of the mark that a decision sets. `action`: approve, reject or withdraw; `request`: the id of the
-- decision. An approval sets its own id; a rejection or a withdrawal does so only if there is no mark.
local function request_of(target, ref, action, request)
  local mark_text = redis.call('HGET', key('marks', target), ref)
  local marked_request = mark_text and string.match(mark_text, '^%d+ %d+ (.*)$')
  if action == 'reject' then return marked_request or request end
  -- A mark for changes of both an approval and a withdrawal has no single right id. It gets NO_REQUEST, which later decisions keep.
  local opposite = action == 'approve' and '^withdrawal:' or '^approval:'
  local has_no_single_id = marked_request == NO_REQUEST or marked_request and string.find(marked_request, opposite)
  if has_no_single_id then return NO_REQUEST end
  if action == 'approve' then return request end
  return marked_request or request
end
