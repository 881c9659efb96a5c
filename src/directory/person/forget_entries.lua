-- Removes the personal data of entries of a log; the entries and their hash chain stay.
-- KEYS key base; it and the arguments without explanation: lua/keys.lua
-- ARGV { name (log or acts), target (absent: of the connection), ids, text (replaces the personal data) }
-- RETURN {"forgotten", number of entries}
local personal, count = key(p.name .. 'Personal', p.target), 0
for _, id in ipairs(p.ids) do
  -- The entry may have been removed by its age meanwhile.
  if redis.call('HEXISTS', personal, id) == 1 then
    redis.call('HSET', personal, id, p.text)
    count = count + 1
  end
end
return { 'forgotten', count }
