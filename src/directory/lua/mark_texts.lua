-- Reads and writes the texts of marks.
-- NEEDS numbers

-- A mark is 'generation since request'. Returns the previous mark (false: none) with a new generation and request; `since`, the
-- time of the oldest change that is not applied, is kept.
local function renewed(mark_text, now, request)
  local from = mark_text and string.find(mark_text, ' ', 1, true)
  local since = from and string.sub(mark_text, from + 1, (string.find(mark_text, ' ', from + 1, true) or 0) - 1)
  return next_number() .. ' ' .. (since or string.format('%d', now)) .. ' ' .. (request or '-')
end

-- Returns whether a ref with this score is due with the same or a higher priority, so that the relay needs no notification.
local function is_waiting(score, priority, due)
  return score and math.floor(score / SPAN) <= priority and score % SPAN <= due
end
