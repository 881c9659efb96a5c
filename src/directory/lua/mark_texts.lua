-- NEEDS numbers
-- A mark is 'generation since request': the generation is new, and of a ref that has a mark already the time of the first
-- change that is not applied stays. A pattern would go from digit to digit.
local function renewed(held, now, request)
  local from = held and string.find(held, ' ', 1, true)
  local since = from and string.sub(held, from + 1, (string.find(held, ' ', from + 1, true) or 0) - 1)
  return next_number() .. ' ' .. (since or string.format('%d', now)) .. ' ' .. (request or '-')
end

-- Whether a ref with this score waits in the lane or a more urgent one and is due: the relay has been told of it.
local function is_waiting(score, lane, due)
  return score and math.floor(score / SPAN) <= lane and score % SPAN <= due
end
