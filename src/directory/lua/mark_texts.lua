-- Reads and writes the stored text of a mark, 'generation since request'.
-- NEEDS keys (SPAN), numbers (next_number)

-- Request of a mark that the bridge itself set, without a push or an order.
local NO_REQUEST = '-'

-- `generation`: a number that is new for every change. `since`: the time of the oldest change that is not applied, in Unix
-- milliseconds. `request`: the correlation id of the newest change. Returns the previous text (false: none) with a new generation
-- and request; `since` is kept.
local function renewed(mark_text, now, request)
  local first_space = mark_text and string.find(mark_text, ' ', 1, true)
  local second_space = first_space and string.find(mark_text, ' ', first_space + 1, true) or 0
  local since = first_space and string.sub(mark_text, first_space + 1, second_space - 1)
  return next_number() .. ' ' .. (since or string.format('%d', now)) .. ' ' .. (request or NO_REQUEST)
end

-- Returns the request of a mark.
local function request_in_mark(mark_text) return string.match(mark_text, '^%d+ %d+ (.*)$') end

-- Returns whether a ref with this dirty score (keys.lua; false or nil: none) is due as early and as urgently as asked for, so
-- that nothing is to be changed.
local function is_waiting(score, priority, due)
  return score and math.floor(score / SPAN) <= priority and score % SPAN <= due
end
