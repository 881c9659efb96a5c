-- Restores one line of a backup (archive.ts). Derived data (indexes, reverse links, both directions of memberships) is built
-- again, so that a backup that was taken during pushes still gives a consistent store.
-- KEYS base
-- ARGV { family, id, target, items, key, type (of a plain key) }
-- RETURN {"loaded", number of restored items, number of items left out: unreferenced, or with a name that a newer record has}
-- NEEDS archive_items
for _, item in ipairs(p.items) do
  if p.family == 'users' or p.family == 'groups' then count_item(load_record(p.family, item[1], item[2]))
  elseif p.family == 'tombstones' then count_item(load_tombstone(item[1], item[2]))
  elseif p.family == 'order' then count_item(load_place(item[1], item[2]))
  elseif p.family == 'withoutOrder' then
    -- This resource was created during the backup, after the order was read.
    local is_new = not redis.call('ZSCORE', key('order', p.id), item)
    if is_new then redis.call('ZADD', key('order', p.id), next_number(), item) end
    count_item(is_new)
  elseif p.family == 'members' then count_item(load_member(item))
  elseif p.family == 'unresolved' then count_item(add_unresolved(p.id, item[1], item[2]))
  elseif p.family == 'links' then count_item(load_link(item[1], item[2]))
  elseif p.family == 'pendingMembers' then count_item(load_sign(item[1], item[2]))
  else count_item(load_plain(item)) end
end
return { 'loaded', loaded, dropped }
