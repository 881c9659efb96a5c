// Makes the entries of a plan about accounts and groups that only the platform has; a run never changes them.
import { fold } from '../../directory/records.ts';
import { ONLY_TOLD, type PlanEntry } from '../entry.ts';
import type { Restored } from '../tenant/restored.ts';
import type { GroupScan } from '../scan/scan-groups.ts';
import type { UserScan } from '../scan/user-scan.ts';

/**
 * Returns entries for accounts and groups that only the platform has. Accounts and groups that the plan adopts or that cause a
 * conflict are left out.
 * @param found the other entries of the plan
 */
export function unmanagedEntries(
  users: Pick<UserScan, 'unmanaged'>,
  groups: Pick<GroupScan, 'unmanaged'>,
  found: PlanEntry[],
  restored: Restored | undefined,
): PlanEntry[] {
  const reason = restored
    ? 'not pushed by any identity provider since the restore, and not in the backup; it is not changed'
    : 'not pushed by any identity provider; it is not changed';
  const taken = new Set(
    found.flatMap(({ action, platformId, after }) =>
      action === 'adopt' || action === 'relink' || action === 'conflict' ? [platformId, after?.id] : [],
    ),
  );
  // By kind and name, the conflicts of resources without account or group. True: the reason of one tells of the account or group
  // that has the name, which then needs no entry of its own.
  const pushed = new Map<string, boolean>();
  for (const entry of found) {
    const key = `${entry.kind} ${fold(entry.name)}`;
    if (entry.action === 'conflict' && entry.platformId === null)
      pushed.set(key, pushed.get(key) === true || tellsOfName(entry));
  }
  const entriesOf = (kind: PlanEntry['kind'], strangers: Map<string, string>): PlanEntry[] =>
    [...strangers]
      .filter(([id, name]) => !taken.has(id) && !pushed.get(`${kind} ${fold(name)}`))
      .map(([platformId, name]) => ({
        ...ONLY_TOLD,
        action: 'unmanaged',
        kind,
        ref: null,
        platformId,
        name,
        reason: pushed.has(`${kind} ${fold(name)}`) ? SAME_NAME : reason,
      }));
  return [...entriesOf('User', users.unmanaged), ...entriesOf('Group', groups.unmanaged)];
}

const SAME_NAME =
  'has the name of a pushed resource that needs a person; the next sync of that resource may take it over';

/** Dead letters of these reasons tell of the account or group that has the name already. */
const ABOUT_ANOTHER = /^(NotAdopted|Conflict): /;

/**
 * Returns whether a conflict tells of the account or group that has its name. A conflict TakenByConnection may tell of an account
 * with the same externalId and another name (sync/names/taken-by-connection.ts).
 */
const tellsOfName = ({ name, reason }: PlanEntry): boolean =>
  ABOUT_ANOTHER.test(reason) ||
  (reason.startsWith('TakenByConnection: ') && fold(reason).includes(fold(` belongs to ${name} (`)));
