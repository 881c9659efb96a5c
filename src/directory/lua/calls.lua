-- NEEDS errors
-- Arguments that calls have alike are decoded once. What a call sets in `p` is its own.
local standing, standing_text
-- What a script does once for all of its calls, after them.
local finish

local function answer(run, at, count)
  local text = ARGV[at + 1]
  if text ~= standing_text then standing, standing_text = { __index = cjson.decode(text) }, text end
  p, texts = setmetatable({}, standing), { unpack(ARGV, at + 2, at + 1 + count) }
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
      local message, is_of_server = words_of(reply)
      if is_of_server then return { err = message } end
      reply = { 'failed', message }
    end
    replies[#replies + 1] = reply
    at = at + 2 + count
  end
  return finish and answer_all(finish) or replies
end
