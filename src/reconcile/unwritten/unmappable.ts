// Finds what the sync of a user does not write while an attribute cannot be written, because its mapping fails or the platform
// defines it with another type: the sync ends before the activation, and no group adds the user. Pure.
import type { Ref } from '../../directory/records.ts';
import type { SyncPolicy } from '../../sync/target.ts';
import { isChange, isDrift, NEWLY_LINKED, reportedAs, type PlanEntry } from '../entry.ts';

/** End of the reason of an entry that waits for a value. */
const WAITS_FOR_VALUE = 'waits for the value that cannot be written';
/** The same for an applied value that is gone at the platform. Only repairs of a run wait for it: pushed changes are written. */
const WAITS_FOR_LOST = 'waits for the value that is lost and cannot be written again';

/** Returns whether the entry is an activation that waits for a value which cannot be written. */
export const isWaitingActivation = ({ action, reason }: PlanEntry): boolean =>
  action === 'reactivate' && reason.endsWith(WAITS_FOR_VALUE);

/** Returns whether the entry is the conflict of an applied value that is lost at the platform and cannot be written again. */
export const isLostValue = (entry: PlanEntry): boolean =>
  entry.action === 'conflict' && entry.attribute !== undefined && isDrift(entry);

/**
 * Changes the entries of users with a value that cannot be written:
 * - an activation, and an addition to a group, get the effect `report`;
 * - a new account is made inactive, if `users.activation` is `safe`;
 * - the conflict about the value says what waits for it.
 * If an applied value of a user is lost at the platform, the worker writes what was pushed, but a run undoes neither the closing
 * of the account nor a lost membership, because the access may be wider without the value.
 * @param unmappable users with a value that cannot be written
 * @param lost users with the conflict of a lost value
 */
export function reportUnmappable(
  entries: PlanEntry[],
  unmappable: ReadonlySet<Ref>,
  { users }: Pick<SyncPolicy, 'users'>,
  lost: ReadonlySet<Ref | null>,
): PlanEntry[] {
  /** By user, what waits: for the reason of the conflict. */
  const waiting = new Map<Ref, Set<'activation' | 'memberships'>>();
  const judged = entries.map((entry): PlanEntry => {
    const { action, member, after, reason } = entry;
    const ref = member ? member.ref : entry.ref;
    if (!ref || !isChange(entry)) return entry;
    // A follower is a part of the change that it follows, and no repair of its own.
    const isRepair = isDrift(entry) && entry.follows === undefined;
    const waitsForValue = unmappable.has(ref);
    const waitsForLost = isRepair && lost.has(ref);
    if (!waitsForValue && !waitsForLost) return entry;
    const isSafeCreate = action === 'create' && after?.active === true && users.activation === 'safe';
    if (!isSafeCreate && action !== 'reactivate' && action !== 'addMember') return entry;
    const part = action === 'addMember' ? 'memberships' : 'activation';
    waiting.set(ref, (waiting.get(ref) ?? new Set()).add(part));
    if (isSafeCreate)
      return {
        ...entry,
        after: { ...after, active: false },
        reason: `${reason}; activation ${WAITS_FOR_VALUE}`,
      };
    return reportedAs(entry, `; ${waitsForValue ? WAITS_FOR_VALUE : WAITS_FOR_LOST}`);
  });
  return judged.map((entry) => {
    const parts = entry.action === 'conflict' && entry.ref ? waiting.get(entry.ref) : undefined;
    return parts ? { ...entry, reason: `${entry.reason}; ${waitingWords(parts)} for the value` } : entry;
  });
}

/** Returns the subject and verb of a sentence about what waits. */
function waitingWords(parts: ReadonlySet<'activation' | 'memberships'>): string {
  if (parts.size === 2) return 'activation and memberships wait';
  return parts.has('activation') ? 'activation waits' : 'memberships wait';
}

/**
 * Returns the users whose sync would try to write a value of an attribute that the platform defines with another type. The sync
 * tries no value that is only lost at the platform, and writes everything else that was pushed.
 * @param conflicts by the name of each such attribute, why it cannot be written
 * @param refused users whose last sync could not write a value, so the next one tries all values that differ
 */
export function usersWithTypeConflict(
  entries: readonly PlanEntry[],
  conflicts: ReadonlyMap<string, string>,
  refused: ReadonlySet<Ref>,
): Ref[] {
  const isConflict = ({ action, attribute, after }: PlanEntry): boolean => {
    if (action !== 'create') return attribute !== undefined && conflicts.has(attribute);
    return [...conflicts.keys()].some((name) => after?.[`attributes.${name}`] !== undefined);
  };
  /** Users whose next sync writes all values that differ, also the lost ones. */
  const triesAll = new Set(refused);
  for (const entry of entries)
    if (entry.ref && isChange(entry) && NEWLY_LINKED.has(entry.action)) triesAll.add(entry.ref);
  return entries.flatMap((entry) => {
    const { kind, ref } = entry;
    const isTried = ref !== null && (!isDrift(entry) || triesAll.has(ref));
    return kind === 'User' && isTried && isChange(entry) && isConflict(entry) ? [ref] : [];
  });
}
