// Finds linked users whose record is lost, such as after a restore of a backup that left it out as damaged.
import { parseRef } from '../../directory/records.ts';
import { inPortions } from '../../directory/redis/portions.ts';
import { mapBounded } from '../../support/bounded.ts';
import type { ReconcileScope } from '../scope.ts';
import type { Member } from './group-case.ts';

/** Number of records that are read at once. */
const RECORDS_AT_ONCE = 500;
const CONCURRENT_READS = 10;

/** Returns the members without those that are linked and have neither record nor tombstone (`isRecordLost` in sync/condition.ts). */
export async function withoutLostUsers(
  directory: Pick<ReconcileScope['directory'], 'getMany' | 'tombstone'>,
  members: Member[],
): Promise<Member[]> {
  const ids = members.flatMap(({ ref }) => (ref === null ? [] : [parseRef(ref).id]));
  const present = new Set<string>();
  for (const portion of inPortions(ids, RECORDS_AT_ONCE))
    for (const { id } of await directory.getMany('User', portion)) present.add(id);
  const absent = ids.filter((id) => !present.has(id));
  const tombstones = await mapBounded(absent, CONCURRENT_READS, (id) => directory.tombstone(id));
  const lost = new Set(absent.filter((_, index) => tombstones[index] === undefined));
  return members.filter(({ ref }) => ref === null || !lost.has(parseRef(ref).id));
}
