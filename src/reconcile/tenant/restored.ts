// Reads the last restore of a connection. After a restore the bridge no longer knows what it wrote between backup and
// restore.
import { isTenantHold } from '../../directory/guard/operator-hold.ts';
import type { Acts } from '../../directory/logs/acts.ts';
import { parseRef, refOf, type Ref } from '../../directory/records.ts';
import { inPortions } from '../../directory/redis/portions.ts';
import { TENANT_ACCEPTED } from './change-tenant.ts';
import { isPending, type PlanEntry } from '../entry.ts';
import type { ReconcileScope } from '../scope.ts';
import { isoTime } from '../../support/sources.ts';

/** Number of records that are read at once. */
const RECORDS_AT_ONCE = 500;

/** The last restore of a connection. */
export interface Restored {
  /** Time of the restore, Unix milliseconds. */
  at: number;
  /** Time of the backup, Unix milliseconds; undefined: the audit entry does not contain it. */
  backupAt?: number;
}

/** Returns the last restore in the audit log, which is searched newest first; undefined: there was none. */
export async function readRestored(acts: Pick<Acts, 'search'>): Promise<Restored | undefined> {
  for await (const { entries } of acts.search({}, ({ act }) => act === 'restore')) {
    const [last] = entries;
    if (!last) continue;
    // The subject begins with `backup of TIME` (ops/backup/put-back.ts).
    const backupAt = Date.parse(/^backup of ([^\s,]+)/.exec(last.subject ?? '')?.[1] ?? '');
    return { at: last.at, ...(Number.isNaN(backupAt) ? {} : { backupAt }) };
  }
  return undefined;
}

/**
 * Returns the restore if it may still explain what the platform has: no run has converged since, and no other tenant was
 * accepted.
 */
export async function ifOpen(
  restored: Restored | undefined,
  {
    acts,
    outbox,
    runs,
    target,
  }: Pick<ReconcileScope, 'acts' | 'outbox' | 'runs'> & { target: { name: string } },
): Promise<Restored | undefined> {
  if (!restored) return undefined;
  const { convergedAt = 0 } = await runs.read();
  if (convergedAt > restored.at) return undefined;
  // While this hold is in force, links to the former tenant may be left.
  const hold = await outbox.guardStore.onHold();
  if (hold && isTenantHold(hold)) return restored;
  // To a tenant accepted since, the bridge wrote nothing between backup and restore.
  for await (const { entries } of acts.search(
    { since: restored.at },
    // The filter of `search` gets no subjects, so the loop compares them.
    ({ act, target: name }) => act === 'reconcile' && name === target.name,
  ))
    if (entries.some(({ subject }) => subject === TENANT_ACCEPTED)) return undefined;
  return restored;
}

/**
 * Returns the entries; a pending change of a resource that the source did not change since the restore gets the cause
 * `restored from a backup`, because no push brought it.
 */
export async function withRestoredCause(
  entries: PlanEntry[],
  restored: Restored | undefined,
  directory: Pick<ReconcileScope['directory'], 'getMany'>,
): Promise<PlanEntry[]> {
  if (!restored) return entries;
  const refs = [...new Set(entries.filter(isPending).flatMap(({ ref, follows }) => follows ?? ref ?? []))];
  const unchanged = new Set<Ref>();
  for (const kind of ['User', 'Group'] as const) {
    const ids = refs.map(parseRef).flatMap((each) => (each.kind === kind ? [each.id] : []));
    for (const portion of inPortions(ids, RECORDS_AT_ONCE))
      for (const { id, lastModified } of await directory.getMany(kind, portion))
        if (lastModified <= restored.at) unchanged.add(refOf(kind, id));
  }
  return entries.map((entry) => {
    const ref = entry.follows ?? entry.ref;
    return isPending(entry) && ref !== null && unchanged.has(ref)
      ? { ...entry, attribution: { cause: 'restored from a backup' } }
      : entry;
  });
}

/** Returns the words for the time of the backup: `the backup of TIME`. */
export const backupText = ({ backupAt }: Restored): string =>
  backupAt === undefined ? 'the backup' : `the backup of ${isoTime(backupAt)}`;
