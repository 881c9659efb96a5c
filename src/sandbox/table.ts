// Stores immutable records by id in order of creation, with text indexes; a change replaces the record.
import type { Durable } from './durable.ts';
import { createRecentChanges, type RecentChangesDeps } from './recent-changes.ts';

export interface TableRow {
  readonly id: number;
}

/** Read access to a table, live or as of an earlier time (fault `staleReadsMs`). */
export interface TableView<T extends TableRow> {
  get(id: number): T | undefined;
  /** Returns all rows in order of creation. */
  rows(): T[];
  /** Returns the rows with exactly `key` in the index `index`, in order of creation. */
  find(index: string, key: string): T[];
}

export interface MemoryTable<T extends TableRow> extends TableView<T>, Durable {
  /** Returns a new id; ids are never reused (contract 12.4). */
  nextId(): number;
  /** Adds the record or replaces the one with its id. */
  put(record: T): void;
  remove(id: number): void;
  /**
   * Returns the table as it was at `cutoffMs` (Unix milliseconds); null = the live table. Only recorded changes are taken back: not
   * those made while no fault asked for stale reads, or more than LONGEST_LAG_MS ago (recent-changes.ts).
   */
  asOf(cutoffMs: number | null): TableView<T>;
}

/** Index name to a function that returns the keys of a record. */
type Keys<T> = Readonly<Record<string, (record: T) => readonly string[]>>;

/**
 * Maps each key to one id or a Set of ids. Most keys have one id, and a Set for each would need more memory than the
 * records.
 */
function createIndex<T extends TableRow>(keysOf: (record: T) => readonly string[]) {
  const ids = new Map<string, number | Set<number>>();
  const add = (key: string, id: number): void => {
    const present = ids.get(key);
    if (present === undefined) ids.set(key, id);
    else if (typeof present === 'number') ids.set(key, new Set([present, id]));
    else present.add(id);
  };
  const drop = (key: string, id: number): void => {
    const present = ids.get(key);
    if (present === id) ids.delete(key);
    else if (present instanceof Set && present.delete(id) && present.size === 0) ids.delete(key);
  };
  return {
    /** Replaces the keys of `before` by those of `after`; undefined = no record before a creation or after a removal. */
    replaceKeys(before: T | undefined, after: T | undefined) {
      const old = before ? keysOf(before) : [];
      const fresh = after ? keysOf(after) : [];
      if (old.length === fresh.length && old.every((key, index) => key === fresh[index])) return;
      if (before) for (const key of old) drop(key, before.id);
      if (after) for (const key of fresh) add(key, after.id);
    },
    /** Returns the ids with this key, ascending: the order of creation. */
    at(key: string): number[] {
      const present = ids.get(key);
      if (present === undefined) return [];
      return typeof present === 'number' ? [present] : [...present].sort((left, right) => left - right);
    },
  };
}

/** Creates an empty table with the given indexes. `get`, `put` and `remove` take constant time. */
export function createTable<T extends TableRow>(keys: Keys<T>, deps: RecentChangesDeps): MemoryTable<T> {
  const records = new Map<number, T>();
  const indexes = new Map(Object.entries(keys).map(([name, keysOf]) => [name, createIndex(keysOf)]));
  const changes = createRecentChanges<{ id: number; before: T | undefined }>(deps);
  let lastId = 0;

  function change(id: number, before: T | undefined, after: T | undefined): void {
    changes.note({ id, before });
    for (const index of indexes.values()) index.replaceKeys(before, after);
  }
  const live: TableView<T> = {
    get: (id) => records.get(id),
    rows: () => [...records.values()],
    find: (name, key) => (indexes.get(name)?.at(key) ?? []).flatMap((id) => records.get(id) ?? []),
  };

  /** Returns the table at an earlier time: the live one without the changes since then. */
  function past(cutoffMs: number): TableView<T> {
    const former = new Map<number, T | undefined>();
    // Applied from newest to oldest, so the oldest change after the cut-off decides.
    for (const { id, before } of changes.after(cutoffMs)) former.set(id, before);
    if (former.size === 0) return live;
    const get = (id: number): T | undefined => (former.has(id) ? former.get(id) : records.get(id));
    return {
      get,
      rows: () =>
        [...new Set([...records.keys(), ...former.keys()])]
          .sort((left, right) => left - right)
          .flatMap((id) => get(id) ?? []),
      find: (name, key) => {
        // The live index has the present keys only, so rows that changed since are compared in their earlier form.
        const earlier = [...former.values()].filter((row): row is T => row !== undefined);
        const matching = earlier.filter((row) => keys[name]?.(row).includes(key));
        const unchanged = live.find(name, key).filter((row) => !former.has(row.id));
        return [...unchanged, ...matching].sort((left, right) => left.id - right.id);
      },
    };
  }

  function put(record: T): void {
    const before = records.get(record.id);
    lastId = Math.max(lastId, record.id);
    records.set(record.id, record);
    change(record.id, before, record);
  }

  return {
    ...live,
    nextId: () => (lastId += 1),
    put,
    remove(id) {
      const before = records.get(id);
      if (!before) return;
      records.delete(id);
      change(id, before, undefined);
    },
    asOf: (cutoffMs) => (cutoffMs === null ? live : past(cutoffMs)),
    // The last id is saved too: ids of removed records must not be reused after a restart.
    dump: () => [lastId, ...records.values()],
    restore([last, ...rows]) {
      for (const row of rows) put(row as T);
      lastId = Math.max(lastId, Number(last ?? 0));
    },
  };
}
