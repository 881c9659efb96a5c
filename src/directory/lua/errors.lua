-- Reads the errors of Redis commands in a script.

-- Returns the message of an error, and whether the error is server-wide: no command of the batch can succeed, for example
-- because this server is a replica (READONLY) or its memory is full (OOM). A server-wide error becomes the error of the whole
-- command, so that the client reconnects. Text before such a word is cut off.
local function message_of(failure)
  local message = type(failure) == 'table' and failure.err or tostring(failure)
  for _, word in ipairs({ 'READONLY', 'OOM', 'MISCONF', 'NOREPLICAS', 'MASTERDOWN' }) do
    local at = string.find(message, word .. ' ', 1, true)
    if at then return string.sub(message, at), true end
  end
  return message, false
end

-- Runs the script once for the whole batch; returns its reply or its error.
local function answer_all(run)
  local done, reply = pcall(run)
  if done then return reply end
  local message, is_of_server = message_of(reply)
  return { err = is_of_server and message or 'ERR ' .. message }
end
