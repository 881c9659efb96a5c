-- What all of Redis suffers from is an error of the command and begins with its word, so that the client looks for another
-- server. Servers of several versions put it into words of their own.
local function error_of_server(message)
  for _, word in ipairs({ 'READONLY', 'OOM', 'MISCONF', 'NOREPLICAS', 'MASTERDOWN' }) do
    local at = string.find(message, word .. ' ', 1, true)
    if at then return string.sub(message, at) end
  end
end

local function message_of(failure)
  return type(failure) == 'table' and failure.err or tostring(failure)
end

-- For a script that does all calls of a command at once.
local function answer_all(run)
  local done, reply = pcall(run)
  if done then return reply end
  local message = message_of(reply)
  return { err = error_of_server(message) or 'ERR ' .. message }
end
