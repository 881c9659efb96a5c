// Reads the names of resources from their records.
import { nameInRecord, parseRef, refOf, type Kind, type Ref } from '../records.ts';
import { inPortions } from '../redis/portions.ts';
import type { Directory } from './directory.ts';

/** Largest number of records that one command reads. */
const PORTION = 200;

/** Returns the userName or displayName of each ref that has a sound record; reads in portions. */
export async function readRecordNames(
  directory: Pick<Directory, 'getMany'>,
  refs: Iterable<Ref>,
): Promise<Map<Ref, string>> {
  const names = new Map<Ref, string>();
  const ids: Record<Kind, string[]> = { User: [], Group: [] };
  for (const ref of new Set(refs)) ids[parseRef(ref).kind].push(parseRef(ref).id);
  for (const kind of ['User', 'Group'] as const) {
    for (const portion of inPortions(ids[kind], PORTION)) {
      for (const record of await directory.getMany(kind, portion)) {
        const name = nameInRecord(record);
        if (name !== undefined) names.set(refOf(kind, record.id), name);
      }
    }
  }
  return names;
}
