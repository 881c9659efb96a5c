// Lists the parts of the state that are saved, and how each is read and filled. Every table and collection is
// saved by default; any other part must be named here with the reason why it is not.
import { isDurable, type Durable } from '../durable.ts';
import type { State } from '../state.ts';

/** Parts that are not saved: runs end with the process, and the expiry of external users is computed again. */
const NOT_SAVED: ReadonlySet<keyof State> = new Set<keyof State>(['runs', 'externalExpiry']);

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

/** Returns the parts by name. Throws for a part of an unknown kind, which is a programming error found at start. */
export function partsOf(state: State): ReadonlyMap<string, Durable> {
  const parts = Object.entries(state)
    .filter(([name]) => !NOT_SAVED.has(name as keyof State))
    .map(([name, part]: [string, unknown]): [string, Durable] => {
      if (part instanceof Map) return [name, mapPart(part)];
      if (part instanceof Set) return [name, setPart(part)];
      if (isDurable(part)) return [name, part];
      throw new Error(`The part ${name} of the state cannot be saved`);
    });
  return new Map(parts);
}
