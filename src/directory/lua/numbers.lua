-- Returns the next number of `sequence`, the one counter of a connection, as text, because Redis converts a number to text at
-- every command. A command reserves NUMBERS_AT_ONCE with one INCRBY; unused ones are never used.
-- NEEDS keys (key)
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
