-- What a failure says, and whether all of Redis suffers from it: that is an error of the command and begins with its word, so
-- that the client looks for another server. Servers of several versions put it into words of their own.
local function words_of(failure)
  local message = type(failure) == 'table' and failure.err or tostring(failure)
  for _, word in ipairs({ 'READONLY', 'OOM', 'MISCONF', 'NOREPLICAS', 'MASTERDOWN' }) do
    local at = string.find(message, word .. ' ', 1, true)
    if at then return string.sub(message, at), true end
  end
  return message, false
end

-- Does what all calls of a command have in common; answers that or why it failed.
local function answer_all(run)
  local done, reply = pcall(run)
  if done then return reply end
  local message, is_of_server = words_of(reply)
  return { err = is_of_server and message or 'ERR ' .. message }
end
