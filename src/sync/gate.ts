// Asks the guard before every destructive write, and ends a sync whose write is held (ADR 0011). The gate (context.ts) collects
// what a sync finds out about its changes: `permit` adds the writes that the guard refuses, and `ended` and `besideDecisions` make
// the condition of the outcome from it. `behindHold` is the condition of a resource that waits for another one with a held change.
// `decisionsOf` writes the messages.
import type { Link } from '../directory/outbox/link.ts';
import type { Condition } from '../directory/outbox/link-condition.ts';
import type { Ref } from '../directory/records.ts';
import type { Destruction } from '../directory/guard/held-changes.ts';
import type { Permission } from '../directory/guard/guard-store.ts';
import type { DestructiveKind } from '../guard/judge.ts';
import { causeOf, condition } from './condition.ts';
import type { Gate, SyncContext } from './context.ts';
import { administratorStateOf, UNCHECKED } from './user/last-administrator.ts';
import type { SyncOutcome } from './outcome.ts';
import { counted } from '../support/counted.ts';

/** Returns the gate of a sync that starts: without findings. */
export const openGate = (): Gate => ({
  refused: [],
  postponed: [],
  isHeldAgain: false,
  faults: [],
  followers: 0,
  keptLeavers: 0,
  isLastAdministrator: false,
  isLeaver: false,
  closed: false,
});

/** A destructive write of the resource of this sync. */
type Wish = Omit<Destruction, 'ref'>;

/**
 * Asks the guard for destructive writes right before they are sent, and notes the refused ones. `whole`: either all writes
 * without an earlier verdict are allowed, or none; writes that were decided or counted before keep their verdict.
 * @returns permissions in the order of `wishes`
 */
export async function permit(
  context: SyncContext,
  wishes: Wish[],
  options: { whole?: boolean } = {},
): Promise<Permission[]> {
  const { gate, outbox, target, work } = context;
  const items = wishes.map((wish) => ({ ...wish, ref: work.ref }));
  const onHeldAgain = (): void => void (gate.isHeldAgain = true);
  const permissions = await outbox.guardStore.take(items, target.policy.guard, { ...options, onHeldAgain });
  for (const [index, permission] of permissions.entries()) {
    const item = items[index];
    if (item && permission !== 'allowed') gate.refused.push({ item, permission });
  }
  return permissions;
}

/** Notes a destructive write that an earlier decision refuses. */
export function refuse({ gate, work }: SyncContext, wish: Wish, permission: 'held' | 'rejected'): void {
  gate.refused.push({ item: { ...wish, ref: work.ref }, permission });
}

/** Asks the guard for one destructive write. */
export async function permitOne(context: SyncContext, wish: Wish): Promise<Permission> {
  // The default satisfies the type: one wish has one permission.
  const [permission = 'held'] = await permit(context, [wish]);
  return permission;
}

/**
 * Asks the guard for a deactivation. An account that is found to be the last active administrator is not deactivated, even if that
 * was approved. If the platform does not tell (`unknown`), the decision of the guard counts.
 */
export async function permitClosing(context: SyncContext): Promise<Permission> {
  const { gate, link, outbox, target, work } = context;
  const permission = await permitOne(context, { kind: 'deactivate' });
  const isAllowed = permission === 'allowed';
  // A change that is not allowed needs no check, unless it was held for the last administrator: that reason may have ended.
  if (!isAllowed && (permission === 'rejected' || link.condition?.reason !== 'LastAdministrator'))
    return permission;
  const administrator = await administratorStateOf(context);
  if (administrator === 'unknown') gate.remark = UNCHECKED;
  if (administrator !== 'last') return permission;
  gate.isLastAdministrator = true;
  if (!isAllowed) return permission;
  // An earlier sync held the deactivation for this reason, so its approval ends without a write, and it is held anew.
  if (link.condition?.reason === 'LastAdministrator') gate.isHeldAgain = true;
  const item = { kind: 'deactivate', ref: work.ref } as const;
  const held = await outbox.guardStore.holdBack(item, target.policy.guard.windowMs);
  gate.refused.push({ item, permission: held === 'rejected' ? held : 'held' });
  return held;
}

/** Clears the findings, because the sync restarts or the account is gone. */
export function resetGate(context: SyncContext): void {
  context.gate = openGate();
}

/**
 * Returns the outcome of a completed sync: `held` if a part of it waits for an operator, else `synced`.
 * @param rest other fields of the outcome (outcome.ts)
 */
export function ended(
  context: SyncContext,
  rest: { forget?: boolean; dropGrants?: boolean; alarmAt?: number } = {},
): SyncOutcome {
  const { gate } = context;
  const why = whyNot(context);
  if (!why) return { kind: 'synced', ...rest };
  if (gate.isLeaver) why.isLeaver = true;
  const isHeld = gate.followers > 0 || gate.refused.some(({ permission }) => permission === 'held');
  return isHeld
    ? { kind: 'held', condition: why, ...rest, isHeldAgain: gate.isHeldAgain }
    : { kind: 'synced', condition: why, ...rest };
}

/** Returns why the completed sync left a difference; undefined: the target is as desired. */
function whyNot(context: SyncContext): Condition | undefined {
  const { gate } = context;
  if (gate.isLastAdministrator) return condition(context, 'LastAdministrator', LAST_ADMINISTRATOR);
  const decisions = decisionsOf(gate.refused, gate);
  return decisions && condition(context, decisions.reason, decisions.message);
}

const LAST_ADMINISTRATOR =
  'no other active administrator would be left at the platform, as far as its user list showed at the last sync of the ' +
  'account, so the guard holds the deactivation: make somebody else an administrator there, then approve it; the ' +
  'sync after an approval reads the list again, and holds the deactivation anew if nobody else is one';

/** Returns whether the guard refused a write of this kind. */
export const isRefused = (gate: Gate, kind: DestructiveKind): boolean =>
  gate.refused.some(({ item }) => item.kind === kind);

/**
 * Returns the message of a resource that waits until `holder` gives up a name or account. Other resources may wait in between, each
 * for the name of the next. The holder need not be a leaver: a person whose removal from a group is held gets no new userName
 * either (sync-user.ts).
 */
const behindText = (holder: Ref): string =>
  `it waits until ${holder} gives up a name or account, and the guard holds a change of ${holder}`;

const BEHIND_HOLD = /^it waits until (\S+) gives up a name or account, and the guard holds a change of \1$/;

/** Returns the condition of a sync that waits for the held change of another resource; undefined otherwise. */
export const behindHold = (context: SyncContext): Condition | undefined => {
  const { heldHolder } = context.gate;
  return heldHolder ? condition(context, 'Held', behindText(heldHolder)) : undefined;
};

/** Returns whether the last sync of a resource waited for the held change of another one. */
export const wasBehindHold = ({ condition: last }: Link): boolean =>
  last?.reason === 'Held' && BEHIND_HOLD.test(last.message);

/**
 * Adds the other faults of the same sync to the condition of a dead letter or of a write that the platform ignores: attributes that
 * it cannot write, held and rejected changes.
 */
export function besideDecisions(context: SyncContext, refusal: Condition): Condition {
  const { gate } = context;
  const faults = gate.faults.join('; ');
  const decisions = decisionsOf(gate.refused, gate);
  const parts = [
    refusal.message,
    ...(refusal.message.includes(faults) ? [] : [faults]),
    ...(decisions ? [decisions.message] : []),
  ];
  return {
    ...refusal,
    message: parts.join('; '),
    ...(gate.isLeaver && { isLeaver: true as const }),
    ...(decisions && { besides: decisions.reason, ...causeOf(context) }),
  };
}

/**
 * Returns reason and message of a condition about held and rejected changes; undefined: there are none.
 * @param options
 *   - `followers`: number of members whose removal from the group waits, because the deactivation of their account is held
 *   - `keptLeavers`: number of deleted members who stay in the group, because the deactivation of their account was rejected
 *   - `isLeaver`: the person was deleted at the source, or is out of scope
 *   - `isExpired`: the approval of all held changes has expired, and the guard has not judged them anew yet
 */
export function decisionsOf(
  refused: Refused,
  {
    followers = 0,
    keptLeavers = 0,
    isLeaver = false,
    isExpired = false,
  }: { followers?: number; keptLeavers?: number; isLeaver?: boolean; isExpired?: boolean },
): { reason: 'Held' | 'Rejected'; message: string } | undefined {
  const rejected = kindsOf(refused, 'rejected');
  const held = [
    ...kindsOf(refused, 'held').map((kind) => WORDS[kind]),
    ...closingsText(followers, 'leave the group'),
  ];
  if (held.length > 0) {
    const changes = held.join(' and ');
    const start = isExpired ? `the approval of ${changes} has expired` : `the guard holds ${changes}`;
    return { reason: 'Held', message: start + besidesHeld(refused, keptLeavers) };
  }
  if (rejected.length === 0 && keptLeavers === 0) return undefined;
  return { reason: 'Rejected', message: rejectedText(rejected, isLeaver, keptLeavers) };
}

/** The words for changes of each kind in messages of conditions. */
const WORDS: Record<DestructiveKind, string> = {
  deactivate: 'the deactivation',
  delete: 'the deletion',
  removeMembers: 'the removal of members',
  clearAttributes: 'the emptying of attributes',
};

/** The words for rejected changes beside held ones of the same kind. */
const OTHERS: Record<DestructiveKind, string> = {
  ...WORDS,
  removeMembers: 'the removal of other members',
  clearAttributes: 'the emptying of other attributes',
};

/** Changes that the guard refused; of the item only the kind is read. */
type Refused = readonly { item: Pick<Destruction, 'kind'>; permission: 'held' | 'rejected' }[];

/** Returns the kinds of the changes with this permission, each once. */
const kindsOf = (refused: Refused, wanted: Permission): DestructiveKind[] => [
  ...new Set(refused.filter(({ permission }) => permission === wanted).map(({ item }) => item.kind)),
];

/** Returns the words for decisions about the deactivation of members of a group; empty for no member. */
function closingsText(count: number, does: 'leave the group' | 'stay in the group'): string[] {
  if (count === 0) return [];
  // Of a single member: "leaves the group", "stays in the group".
  const verb = count === 1 ? does.replace(' ', 's ') : does;
  return [`the deactivation of ${counted(count, 'member')}, who ${verb} with the account`];
}

/** Returns the message about rejected changes of a resource without held ones. */
function rejectedText(rejected: readonly DestructiveKind[], isLeaver: boolean, keptLeavers: number): string {
  // While an account stays open against the source, values and removals from groups are still written, but no additions. Of a
  // leaver the source has no values.
  const valuesText = isLeaver
    ? ' with the values that it has'
    : ', and other changes of the source are written, except new memberships';
  const kept = rejected.includes('deactivate')
    ? `the account stays open${valuesText}`
    : 'the platform keeps what it has';
  const words = [...rejected.map((kind) => WORDS[kind]), ...closingsText(keptLeavers, 'stay in the group')];
  return `a person rejected ${words.join(' and ')}: ${kept}`;
}

/** Returns the rejected changes as the end of a message about held changes: a resource has one condition for both. */
function besidesHeld(refused: Refused, keptLeavers: number): string {
  const held = kindsOf(refused, 'held');
  const rejected = kindsOf(refused, 'rejected');
  const words = [
    ...rejected.map((kind) => (held.includes(kind) ? OTHERS[kind] : WORDS[kind])),
    ...closingsText(keptLeavers, 'stay in the group'),
  ];
  return words.length > 0 ? `; a person rejected ${words.join(' and ')}` : '';
}
