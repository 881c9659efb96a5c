// Stores the ids of the attribute definitions under which the bridge wrote values. The platform deletes all values of an attribute
// with its definition, so a definition with another id has none of the values that the links (docs/glossary.md) have.
import type { StoreDeps } from '../redis/scripts.ts';

/** Stands in place of the id: values are lost, because the definition was deleted. */
const VALUES_LOST = '';

/** The definitions at the platform, as a comparison read them. */
export interface ComparedDefinitions {
  /** Name of the attribute → id of its definition. */
  ids: ReadonlyMap<string, string>;
  /** Attributes whose definition was deleted. In `ids`: made again with another id. Not in `ids`: gone, or of another type. */
  deleted: ReadonlySet<string>;
  /** Attributes of `deleted` whose definition was made again with another type, so that no value can be written. */
  ofOtherType: ReadonlySet<string>;
  /** Whether the values of every user could be read, so that this comparison has found all values that the deletions took. */
  isWhole: boolean;
}

export function createKnownDefinitions({ redis, scripts, keys }: StoreDeps, target: string) {
  const key = keys.key('definitions', target);
  /** The object that `note` stored last. Many syncs share one object, and only the first of them runs the script. */
  let noted: ReadonlyMap<string, unknown> | undefined;

  /** Returns the stored id by name of the attribute; VALUES_LOST in place of an id: values are lost. */
  const read = async (): Promise<ReadonlyMap<string, string>> =>
    new Map(Object.entries(await redis.hgetall(key)));

  /**
   * Stores the definitions under which a sync is about to write: new ones with their id, those with another id than the stored one
   * as VALUES_LOST. Does nothing if the last call had the same object.
   */
  async function note(definitions: ReadonlyMap<string, { kind: string; id?: string }>): Promise<void> {
    if (noted === definitions) return;
    const ids = [...definitions].flatMap(([name, { id }]) => (id === undefined ? [] : [[name, id] as const]));
    // One script, so that ids which `settle` stores meanwhile are not overwritten.
    if (ids.length > 0)
      await scripts.run('note_definitions', keys.base, { target, ids: Object.fromEntries(ids) });
    noted = definitions;
  }

  /** Stores the definitions that a run has compared. @param isWritten whether all lost values are written, or ordered by marks */
  async function settle(
    { ids, deleted }: Pick<ComparedDefinitions, 'ids' | 'deleted'>,
    isWritten: boolean,
  ): Promise<void> {
    // Only new names: a stored id that differs, or VALUES_LOST, says that values are lost, which only `deleted` settles.
    for (const [name, id] of ids) if (!deleted.has(name)) await redis.hsetnx(key, name, id);
    for (const name of deleted) {
      const id = ids.get(name);
      if (!isWritten) await redis.hset(key, name, VALUES_LOST);
      else if (id !== undefined) await redis.hset(key, name, id);
      // No write has made the definition again; `note` stores its id when one does.
      else await redis.hdel(key, name);
    }
  }

  /** Returns the attributes of which values are lost, sorted by name; also those that are not mapped any more. */
  const withLostValues = async (): Promise<string[]> =>
    [...(await read())].flatMap(([name, id]) => (id === VALUES_LOST ? [name] : [])).sort();

  /** Forgets all ids, because the target is another tenant now. */
  const forget = async (): Promise<void> => {
    await redis.del(key);
  };

  return { read, note, settle, withLostValues, forget };
}
