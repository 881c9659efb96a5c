-- Restores one line of a backup (ArchiveLine in archive.ts). Derived data (indexes, reverse links, groups of each user) is
-- rebuilt from it, so that a backup that was taken during pushes still gives consistent data.
-- KEYS key base. lua/keys.lua explains these header lines and unexplained arguments
-- ARGV { family (of the line: users, groups, tombstones, order, members, unresolved, links, pendingMembers; withoutOrder: the
--        items are ids that get a place if they have none; plain: a key that is restored as it was),
--        id (the group of members, unresolved and pendingMembers; the kind of order and withoutOrder), target,
--        items: for users, groups, tombstones, order, links and pendingMembers [id or ref, stored value], for members ids of
--        users, for unresolved [value, folded value], for plain as load_plain takes them (lua/archive_items.lua),
--        key and type (only of plain) }
-- RETURN {"loaded", number of restored items, number of items left out}. An item is left out if the user or group that it
--        refers to is not restored, or if a newer record has the same name.
-- NEEDS keys (key, p), archive_items (load_link, load_member, load_place, load_plain, load_sign)
-- NEEDS archive_records (count_item, dropped, load_record, load_tombstone, loaded), numbers (next_number)
-- NEEDS references (add_unresolved)
-- count_item counts an item in `loaded`, or with false in `dropped` (lua/archive_records.lua).
for _, item in ipairs(p.items) do
  -- `name`: id, ref or member value; nil for an item that is a text.
  local name, value
  if type(item) == 'table' then name, value = unpack(item) end
  if p.family == 'users' or p.family == 'groups' then count_item(load_record(p.family, name, value))
  elseif p.family == 'tombstones' then count_item(load_tombstone(name, value))
  elseif p.family == 'order' then count_item(load_place(name, value))
  elseif p.family == 'withoutOrder' then
    -- A resource without a place was created during the backup, after the order was read.
    local has_no_place = not redis.call('ZSCORE', key('order', p.id), item)
    if has_no_place then redis.call('ZADD', key('order', p.id), next_number(), item) end
    count_item(has_no_place)
  elseif p.family == 'members' then count_item(load_member(item))
  elseif p.family == 'unresolved' then count_item(add_unresolved(p.id, name, value))
  elseif p.family == 'links' then count_item(load_link(name, value))
  elseif p.family == 'pendingMembers' then count_item(load_sign(name, value))
  else count_item(load_plain(item)) end
end
return { 'loaded', loaded, dropped }
