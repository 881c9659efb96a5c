// Makes the entries of a plan that a run never applies: dead letters, and accounts and groups that only the platform has.
import { conditionText } from '../../directory/outbox/condition-text.ts';
import { isBySettingsOfThen } from '../../directory/outbox/link-condition.ts';
import { readRecordNames } from '../../directory/resources/record-names.ts';
import { fold, type Ref } from '../../directory/records.ts';
import { ONLY_TOLD, type PlanEntry } from '../entry.ts';
import type { Restored } from '../tenant/restored.ts';
import type { GroupScan } from '../scan/scan-groups.ts';
import type { UserScan } from '../scan/compare-user-page.ts';
import type { ReconcileScope } from '../scope.ts';

/** Returns a sentence, without full stop, about a dead letter whose refused change somebody made at the platform. */
export const letterDoneText = (ref: Ref): string =>
  `the platform refused its change, and has it by now; the next reconcile that repairs, or scim-bridge dead-letters retry ${ref}, takes it off the list`;

/**
 * Returns entries for dead letters, with the reason that the worker stored.
 * @param compared entries of the comparison; a dead letter that is a conflict there gets no second entry
 * @param equal dead letters without a difference
 * @param mapsAll the comparison has mapped all users, so a value that was refused by former settings gets no entry here
 */
export async function deadLetterEntries(
  scope: ReconcileScope,
  deadLetters: Ref[],
  compared: PlanEntry[],
  { equal, mapsAll }: { equal: readonly Ref[]; mapsAll: boolean },
): Promise<PlanEntry[]> {
  const named = new Set(compared.filter(({ action }) => action === 'conflict').map(({ ref }) => ref));
  const refs = deadLetters.filter((ref) => !named.has(ref));
  const [links, names] = await Promise.all([
    scope.links.getMany(scope.target.name, refs),
    readRecordNames(scope.directory, refs),
  ]);
  return refs.flatMap((ref, index): PlanEntry[] => {
    const link = links[index] ?? {};
    const { condition } = link;
    const isFormerValue =
      condition?.reason === 'AttributesNotWritten' && isBySettingsOfThen(condition, scope.outbox.settings);
    if (mapsAll && isFormerValue) return [];
    const wanted = names.get(ref);
    const applied = String(link.core?.userName ?? link.core?.displayName ?? '');
    // Without an account or group the link has the name that an earlier sync tried.
    const name = (link.id === undefined && wanted) || applied || (wanted ?? '');
    // The platform refused the new userName, and the account still has its former one.
    const isRenamed = ref.startsWith('User:') && wanted !== undefined && wanted !== name;
    return [
      {
        ...ONLY_TOLD,
        action: 'conflict',
        kind: ref.startsWith('User:') ? 'User' : 'Group',
        ref,
        platformId: link.id ?? null,
        name,
        ...(isRenamed && { before: { userName: name }, after: { userName: wanted } }),
        reason: equal.includes(ref)
          ? `a dead letter: ${letterDoneText(ref)}`
          : condition
            ? `${condition.reason}: ${conditionText(condition, scope.outbox.settings)}`
            : 'Refused: see scim-bridge dead-letters list',
      },
    ];
  });
}

/** Dead letters of these reasons tell of the account or group that has the name already. */
const ABOUT_ANOTHER = /^(NotAdopted|Conflict): /;

/**
 * Returns whether a conflict tells of the account or group that has its name. A conflict TakenByConnection may tell of an account
 * with the same externalId and another name (sync/names/taken-by-connection.ts).
 */
const tellsOfName = ({ name, reason }: PlanEntry): boolean =>
  ABOUT_ANOTHER.test(reason) ||
  (reason.startsWith('TakenByConnection: ') && fold(reason).includes(fold(` belongs to ${name} (`)));

const SAME_NAME =
  'has the name of a pushed resource that needs a person; the next sync of that resource may take it over';

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
  // Conflicts without account or group, by kind and name; true if one of them tells of the account or group that has the name.
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
