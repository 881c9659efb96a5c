// Decides about an attribute that no account of the user list shows although several should: either the platform has lost all its
// values, or the user list does not return it. The value lists of a few users who should have a value tell which. Values are called
// lost here if they are gone at the platform; of a resource, docs/glossary.md gives the word another meaning.
import type { Ref } from '../../directory/records.ts';
import { isEmpty } from '../../sync/diff.ts';
import type { ScanResult } from '../scope.ts';
import { valuesOfLinked } from './verify-values.ts';

/** Number of users for each attribute whose value list is read. */
export const LOST_SAMPLES = 2;

/**
 * Returns those attributes of `hidden` that are missing in at least one of the value lists that it reads. No account of the user
 * list shows them either, so all their values count as gone, for example because the definition was deleted and made again.
 * @param hidden attribute, as `attributes.<name>`, to some users that should have a value
 */
export async function findLost(scan: ScanResult, hidden: ReadonlyMap<string, Ref[]>): Promise<Set<string>> {
  const lost = new Set<string>();
  for (const [name, refs] of hidden) {
    for (const each of await scan.scope.drifts.readLinks(refs)) {
      const values = await valuesOfLinked(scan, each);
      const isRead = typeof values === 'object' && values.values !== undefined;
      if (isRead && isEmpty(values.values?.get(name.slice('attributes.'.length)))) lost.add(name);
    }
  }
  return lost;
}
