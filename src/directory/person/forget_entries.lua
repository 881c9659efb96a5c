-- Replaces the personal data of entries of a log by another text; the entries and their hash chain stay (lua/log.lua). Part of
-- an order to forget a person.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { name (of the log: log or acts), target (absent: acts, the log of the connection), ids (of entries),
--        text (that replaces the personal data: 'forgotten ' and the id of the order) }
-- RETURN {"forgotten", number of entries}
-- NEEDS keys (key, p)
local personal, count = key(p.name .. 'Personal', p.target), 0
for _, id in ipairs(p.ids) do
  -- An old entry may have been removed since its id was read.
  local is_stored = redis.call('HEXISTS', personal, id) == 1
  if is_stored then
    redis.call('HSET', personal, id, p.text)
    count = count + 1
  end
end
return { 'forgotten', count }
