// Finds the changes of a plan that no sync would write: rejected by an operator, held by the guard, about a protected
// person, or a pending membership of a held or rejected account. The plan only reports them.
import type { Destruction } from '../directory/guard/held-changes.ts';
import { parseLink } from '../directory/outbox/links.ts';
import { fold, parseRef, type Ref } from '../directory/records.ts';
import type { DestructiveKind } from '../guard/judge.ts';
import { isChange, type Action, type PlanEntry } from './entry.ts';
import type { ReconcileScope } from './scope.ts';

const KIND_OF: Partial<Record<Action, DestructiveKind>> = {
  deactivate: 'deactivate',
  delete: 'delete',
  removeMember: 'removeMembers',
  clearAttribute: 'clearAttributes',
};

/** State of the account that a pending membership waits for. */
export type MembershipWait = 'held' | 'rejected';

const PORTION = 1000;
const REASONS = {
  rejected: 'rejected by an operator, so it is not written: see scim-bridge exceptions',
  held: 'held by the guard until an operator decides: see scim-bridge approvals list',
  protected: 'the person is listed in users.protected, so it is not written',
};
/** Follows the reason of a pending membership. */
const WAITS: Record<MembershipWait, string> = {
  held: '; waits for the held account: see scim-bridge approvals list',
  rejected: '; waits for the account, whose change an operator rejected: see scim-bridge exceptions',
};
/** Conditions of an account that stop its additions to groups, although no operator has to repair anything. */
const WAITING: Readonly<Record<string, MembershipWait>> = {
  Held: 'held',
  LastAdministrator: 'held',
  Rejected: 'rejected',
};

/** Returns the entries; those that no sync would write have the effect `report`. */
export async function withoutUnwritten(
  scope: Pick<ReconcileScope, 'outbox' | 'target' | 'drifts'>,
  entries: PlanEntry[],
): Promise<PlanEntry[]> {
  const {
    outbox: { guardStore },
    target,
  } = scope;
  const why = new Map<PlanEntry, string>();
  for (const [entry, wait] of await waitingMemberships(scope, entries))
    why.set(entry, `${entry.reason}${WAITS[wait]}`);
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

/**
 * Returns the changes that are pending memberships and wait for the account of the member: a removal is written with the held
 * deactivation (members.ts), an addition after the condition of the account has ended.
 */
export async function waitingMemberships(
  { outbox: { guardStore }, drifts }: Pick<ReconcileScope, 'outbox' | 'drifts'>,
  entries: readonly PlanEntry[],
): Promise<Map<PlanEntry, MembershipWait>> {
  const waiting = new Map<PlanEntry, MembershipWait>();
  const pending = entries.flatMap((entry) => {
    const ref = entry.member?.ref;
    return ref && isChange(entry) && entry.attribution.cause === 'source changed' ? [{ entry, ref }] : [];
  });
  const users = [...new Set(pending.map(({ ref }) => ref))];
  const waits = new Map<Ref, { add?: MembershipWait | undefined; isLeaver: boolean }>();
  for (let start = 0; start < users.length; start += PORTION) {
    const portion = users.slice(start, start + PORTION);
    const [accounts, decisions] = await Promise.all([
      drifts.observe(portion),
      guardStore.decisionsOfMembers(portion.map((ref) => parseRef(ref).id)),
    ]);
    accounts.forEach(({ ref, text, marked }, index) => {
      const { condition } = parseLink(text);
      const add = marked || !condition ? undefined : WAITING[condition.reason];
      waits.set(ref, { add, isLeaver: decisions[index] === 'follows' });
    });
  }
  for (const { entry, ref } of pending) {
    const { add, isLeaver } = waits.get(ref) ?? { isLeaver: false };
    const wait = entry.action === 'addMember' ? add : isLeaver ? 'held' : undefined;
    if (wait) waiting.set(entry, wait);
  }
  return waiting;
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
