// Reads the audit entries of all connections, newest first.
import type { PlacedAct } from '../directory/logs/acts.ts';
import type { DesiredState } from '../directory/desired-state.ts';

export type LocatedAct = Omit<PlacedAct, 'at'> & { connection: string; at: string };

type Kept = Pick<DesiredState, 'connection' | 'acts'>;

/** Yields audit entries, newest first within each connection. @param since Unix milliseconds */
export async function* readActs(states: readonly Kept[], since?: number): AsyncGenerator<LocatedAct> {
  for (const { connection, acts } of states)
    for await (const portion of acts.newest(since))
      for (const { at, id, ...act } of portion)
        yield { id, at: new Date(at).toISOString(), connection, ...act };
}

/** Verifies the hash chains; `broken` names the first entry with a wrong hash. */
export const verifyActs = (
  states: readonly Kept[],
): Promise<{ connection: string; entries: number; broken: string | null }[]> =>
  Promise.all(
    states.map(async ({ connection, acts }) => {
      const [entries, broken] = await Promise.all([acts.size(), acts.firstBroken()]);
      return { connection, entries, broken: broken ?? null };
    }),
  );
