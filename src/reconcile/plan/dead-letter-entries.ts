// Makes the entries of a plan about dead letters: a conflict each, which a run never applies.
import { BUT_NOT_ON_HOLD } from '../../directory/guard/operator-hold.ts';
import { conditionText } from '../../directory/outbox/condition-text.ts';
import type { Link } from '../../directory/outbox/link.ts';
import { isBySettingsOfThen } from '../../directory/outbox/link-condition.ts';
import { readRecordNames } from '../../directory/resources/record-names.ts';
import type { Ref } from '../../directory/records.ts';
import { ONLY_TOLD, type PlanEntry } from '../entry.ts';
import type { ReconcileScope } from '../scope.ts';
import { givenUpText } from '../../sync/names/taken-by-connection.ts';

/**
 * Returns entries for dead letters, with the reason that the worker stored.
 * @param compared entries of the comparison; a dead letter that is a conflict there gets no second entry
 * @param equal dead letters without a difference
 * @param givenUp dead letters about an account that another connection has given up
 * @param mapsAll the comparison has mapped all users, so a value that was refused by former settings gets no entry here
 */
export async function deadLetterEntries(
  scope: ReconcileScope,
  deadLetters: Ref[],
  compared: PlanEntry[],
  { equal, givenUp, mapsAll }: { equal: readonly Ref[]; givenUp: ReadonlySet<Ref>; mapsAll: boolean },
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
    const { settings } = scope.outbox;
    const isFormerValue =
      condition?.reason === 'AttributesNotWritten' && isBySettingsOfThen(condition, settings);
    if (mapsAll && isFormerValue) return [];
    const refused = condition
      ? `${condition.reason}: ${conditionText(condition, settings)}`
      : 'Refused: see scim-bridge dead-letters list';
    let reason = refused;
    if (givenUp.has(ref)) reason = `a dead letter: ${givenUpText(ref)}`;
    if (equal.includes(ref)) reason = `a dead letter: ${letterDoneText(ref)}`;
    return [toConflict(ref, link, names.get(ref), reason)];
  });
}

/** Returns the conflict entry of a dead letter. @param wanted name in the record; undefined: there is none */
function toConflict(ref: Ref, link: Link, wanted: string | undefined, reason: string): PlanEntry {
  const applied = String(link.core?.userName ?? link.core?.displayName ?? '');
  // Without an account or group the link has the name that an earlier sync tried.
  const name = (link.id === undefined && wanted) || applied || (wanted ?? '');
  // The platform refused the new userName, and the account still has its former one.
  const isRenamed = ref.startsWith('User:') && wanted !== undefined && wanted !== name;
  return {
    ...ONLY_TOLD,
    action: 'conflict',
    kind: ref.startsWith('User:') ? 'User' : 'Group',
    ref,
    platformId: link.id ?? null,
    name,
    ...(isRenamed && { before: { userName: name }, after: { userName: wanted } }),
    reason,
  };
}

/** Returns a sentence, without full stop, about a dead letter whose refused change somebody made at the platform. */
export const letterDoneText = (ref: Ref): string =>
  `the platform refused its change, and has it by now; the next reconcile that repairs, or scim-bridge dead-letters retry ${ref}, takes it off the list${BUT_NOT_ON_HOLD}`;
