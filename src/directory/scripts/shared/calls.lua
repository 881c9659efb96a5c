-- NEEDS errors
-- Arguments that calls have alike are decoded once. What a call sets in `p` is its own.
local standing, standing_text
local function arguments(text)
  if text ~= standing_text then standing, standing_text = { __index = cjson.decode(text) }, text end
  return setmetatable({}, standing)
end

local function answer(run, at, count)
  p, texts = arguments(ARGV[at + 1]), { unpack(ARGV, at + 2, at + 1 + count) }
  return run()
end

-- Does the calls that came together, in their order, and answers each: what fails in one says nothing of its neighbours.
-- ARGV is for each of them the count of its texts, its arguments as JSON, and the texts.
local function answer_each(run)
  local replies, at = {}, 1
  while at <= #ARGV do
    local count = tonumber(ARGV[at])
    local done, reply = pcall(answer, run, at, count)
    if not done then
      local message = message_of(reply)
      local server = error_of_server(message)
      if server then return { err = server } end
      reply = { 'failed', message }
    end
    replies[#replies + 1] = reply
    at = at + 2 + count
  end
  return replies
end
