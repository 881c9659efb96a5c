// Which parts of the state are saved, and how each kind of part is read and filled. A new table is saved because
// it is there; a part that is neither a table nor a collection must say here why it may be forgotten.
import { isDurable, type Durable } from '../durable.ts';
import type { State } from '../state.ts';

/** Runs die with the process; when external users expire is found out anew. */
const FORGOTTEN: ReadonlySet<keyof State> = new Set<keyof State>(['runs', 'externalExpiry']);

function mapPart(map: Map<unknown, unknown>): Durable {
  return {
    dump: () => [...map],
    restore: (entries) => {
      for (const [key, value] of entries as [unknown, unknown][]) map.set(key, value);
    },
  };
}

function setPart(set: Set<unknown>): Durable {
  return {
    dump: () => [...set],
    restore: (entries) => {
      for (const entry of entries) set.add(entry);
    },
  };
}

/** The parts by name. Throws for a part that nobody knows how to save: a mistake in the code, found at start. */
export function partsOf(state: State): ReadonlyMap<string, Durable> {
  const parts = Object.entries(state)
    .filter(([name]) => !FORGOTTEN.has(name as keyof State))
    .map(([name, part]: [string, unknown]): [string, Durable] => {
      if (part instanceof Map) return [name, mapPart(part)];
      if (part instanceof Set) return [name, setPart(part)];
      if (isDurable(part)) return [name, part];
      throw new Error(`The part ${name} of the state cannot be saved`);
    });
  return new Map(parts);
}
