-- Reads and writes the texts of marks.
-- NEEDS numbers

-- A mark is 'generation since request'. Returns a mark with a new generation; `since`, the time of the oldest change that is
-- not applied, is kept.
local function renewed(held, now, request)
  local from = held and string.find(held, ' ', 1, true)
  local since = from and string.sub(held, from + 1, (string.find(held, ' ', from + 1, true) or 0) - 1)
  return next_number() .. ' ' .. (since or string.format('%d', now)) .. ' ' .. (request or '-')
end

-- Returns whether a ref with this score is due with the same or a higher priority, so that the relay needs no notification.
local function is_waiting(score, priority, due)
  return score and math.floor(score / SPAN) <= priority and score % SPAN <= due
end
