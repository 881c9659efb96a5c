-- Put first in every script: names of keys, and what the calls of one command share.
-- KEYS[1] is the base of the connection's keys. Of the call that is done: its named arguments, and the texts behind them.
local base = KEYS[1]
local p, texts
-- A dirty score is lane * SPAN + due milliseconds: lanes sort first, then age.
local SPAN = 10000000000000

local names = {}
local function key(family, id)
  if id then return base .. family .. ':' .. id end
  local name = names[family]
  if not name then
    name = base .. family
    names[family] = name
  end
  return name
end

-- Time stands still for a command.
local now_ms
local function clock()
  if now_ms then return now_ms end
  local time = redis.call('TIME')
  now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
  return now_ms
end
