// Writes the messages of conditions about held and rejected changes. Pure.
import type { Destruction } from '../directory/guard/held-changes.ts';
import type { Permission } from '../directory/guard/guard-store.ts';
import type { DestructiveKind } from '../guard/judge.ts';
import { counted } from '../support/counted.ts';

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

/** The words for changes of a kind. */
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
  // An open account still receives values, and leaves groups, but joins none while the source wants it closed. The source has no
  // values of a leaver.
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
