-- Runs a script once for each call of a batch, each with its own arguments and reply.
-- NEEDS keys (p, texts), errors (answer_all, message_of)
-- The last decoded arguments and their text. Equal arguments of several calls are decoded once; `p` of each call reads them
-- through a metatable, so that a call can change its own `p` only.
local shared, shared_text
-- Function that a script may set to run it once after all calls of the batch (together.lua).
local finish

-- Runs the body of the script for one call and returns its reply. `at`: position of the call in ARGV; `count`: number of its
-- texts.
local function run_call(run, at, count)
  local text = ARGV[at + 1]
  if text ~= shared_text then shared, shared_text = { __index = cjson.decode(text) }, text end
  p, texts = setmetatable({}, shared), { unpack(ARGV, at + 2, at + 1 + count) }
  return run()
end

-- Runs all calls of a batch in order and returns one reply for each; a failed call does not affect the others. A server-wide error
-- (errors.lua) ends the batch, and becomes the error of the whole command. `run`: the body of the script. ARGV has for each call
-- the number of its texts, its arguments as JSON, and the texts.
local function answer_each(run)
  local replies, at = {}, 1
  while at <= #ARGV do
    local count = tonumber(ARGV[at])
    local has_run, reply = pcall(run_call, run, at, count)
    if not has_run then
      local message, is_of_server = message_of(reply)
      if is_of_server then return { err = message } end
      reply = { 'failed', message }
    end
    replies[#replies + 1] = reply
    at = at + 2 + count
  end
  return finish and answer_all(finish) or replies
end
