-- Memberships, index entries and links are kept in a shorter form than they once were (ADR 0014). A process of the version
-- before can not read it, so where one has been, the short form is written only when all of them have had time to go.
-- What is stored is read in both forms.
local TURNOVER_MS = 3600 * 1000
local short_from
local function writes_short()
  short_from = short_from or redis.call('GET', key('forms'))
  if not short_from then
    local is_new = redis.call('EXISTS', key('users'), key('groups')) == 0
    short_from = is_new and '0' or string.format('%d', clock() + TURNOVER_MS)
    redis.call('SET', key('forms'), short_from)
  end
  return short_from == '0' or tonumber(short_from) <= clock()
end
