// Finds the changes of a plan that no sync would write: rejected by an operator, held by the guard, or about a protected
// person. The plan only reports them.
import type { Destruction } from '../directory/guard/held-changes.ts';
import { fold, parseRef } from '../directory/records.ts';
import type { DestructiveKind } from '../guard/judge.ts';
import { isChange, type Action, type PlanEntry } from './entry.ts';
import type { ReconcileScope } from './scope.ts';

const KIND_OF: Partial<Record<Action, DestructiveKind>> = {
  deactivate: 'deactivate',
  delete: 'delete',
  removeMember: 'removeMembers',
  clearAttribute: 'clearAttributes',
};

const PORTION = 1000;
const REASONS = {
  rejected: 'rejected by an operator, so it is not written: see scim-bridge exceptions',
  held: 'held by the guard until an operator decides: see scim-bridge approvals list',
  protected: 'the person is listed in users.protected, so it is not written',
};

/** Returns the entries; those that no sync would write have the effect `report`. */
export async function withoutUnwritten(
  { outbox: { guardStore }, target }: Pick<ReconcileScope, 'outbox' | 'target'>,
  entries: PlanEntry[],
): Promise<PlanEntry[]> {
  const why = new Map<PlanEntry, string>();
  const asked = entries.flatMap((entry) => {
    const item = toDestruction(entry);
    return item ? [{ entry, item }] : [];
  });
  for (let start = 0; start < asked.length; start += PORTION) {
    const portion = asked.slice(start, start + PORTION);
    const verdicts = await guardStore.verdictsOn(portion.map(({ item }) => item));
    portion.forEach(({ entry }, index) => {
      const verdict = verdicts[index];
      if (verdict) why.set(entry, REASONS[verdict]);
    });
  }
  const listed = new Set(target.policy.users.protected.map(fold));
  for (const entry of entries)
    if (isChange(entry) && listed.has(fold(personIn(entry)))) why.set(entry, REASONS.protected);
  return entries.map((entry) => {
    const reason = why.get(entry);
    return reason === undefined ? entry : { ...entry, effect: 'report', reason };
  });
}

/** Returns the userName of the person that the entry concerns; '' for a group. */
const personIn = ({ kind, name, member }: PlanEntry): string => member?.name ?? (kind === 'User' ? name : '');

/** Returns the change in the form of the guard; undefined for a change that takes nothing away. */
function toDestruction(entry: PlanEntry): Destruction | undefined {
  const kind = KIND_OF[entry.action];
  const { ref, attribute, member } = entry;
  if (!kind || !ref || !isChange(entry)) return undefined;
  if (kind === 'clearAttributes')
    return attribute === undefined ? undefined : { kind, ref, subject: attribute };
  if (kind !== 'removeMembers') return { kind, ref };
  const subject = member?.ref ? parseRef(member.ref).id : member?.platformId && `@${member.platformId}`;
  return subject ? { kind, ref, subject } : undefined;
}
