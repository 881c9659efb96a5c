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
