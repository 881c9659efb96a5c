// Finds held and rejected changes that a person has already made at the platform (done changes), so that no operator needs to
// decide them. A comparison finds the done changes of a user by `doneOfUser`, of a group by made-changes.ts. A run stores them
// (`toDoneNote`, `noteDone`), and the next sync of the resource ends their wait. A plan counts them (`countDecidable`) and tells
// the number (`doneText`).
import type { Destruction } from '../../directory/guard/held-changes.ts';
import { BUT_NOT_ON_HOLD } from '../../directory/guard/operator-hold.ts';
import { NO_GENERATION } from '../../directory/logs/provisioning-log.ts';
import { isUnmanaged, removedUser } from '../../directory/member-names.ts';
import type { Drift } from '../../directory/outbox/drift.ts';
import type { Link } from '../../directory/outbox/link.ts';
import { isAwaitingDecision } from '../../directory/outbox/link-condition.ts';
import { parseRef, type Ref } from '../../directory/records.ts';
import { counted } from '../../support/counted.ts';
import { mayBeActive } from '../../sync/user/account-state.ts';
import { isEmpty, mayHaveValue } from '../../sync/diff.ts';
import type { Basis } from '../entry.ts';
import type { UserCase } from './user-case.ts';
import type { ReconcileScope } from '../scope.ts';

/** Done changes of one resource, with the versions of record and link with which they were found. */
export interface DoneChanges {
  items: Destruction[];
  basis: Basis;
  /** The resource has a mark, or the run makes its account anew: that sync comes first, so no note is stored. */
  marked: boolean;
}

/** Returns whether the guard holds a change of the resource, or a person rejected one. */
export const awaitsDecision = ({ condition }: Link): boolean => isAwaitingDecision(condition);

/**
 * Returns the destructive changes of a user that the platform has already, if the guard holds a change of the user or a person
 * rejected one; undefined if there are none. `countDecidable` tells which of them are held or rejected.
 */
export function doneOfUser(user: UserCase): DoneChanges | undefined {
  const { ref, link, marked, wanted, observed, values, basis } = user;
  if (link.id === undefined || !awaitsDecision(link)) return undefined;
  const isLeaver = wanted?.inScope !== true;
  const items: Destruction[] = [];
  // A missing account need not be closed: that of an inactive user in scope is made anew as inactive, unless the sync finds another
  // account of the name, which may be active.
  const isClosed = observed ? observed.active === false : isLeaver || (!user.namesake && !user.takenBy);
  // `mayBeActive`: by the link the account may still be active, so its deactivation was to come.
  if (wanted?.active !== true && mayBeActive(link) && isClosed) items.push({ kind: 'deactivate', ref });
  if (isLeaver && !observed) items.push({ kind: 'delete', ref });
  // A leaver's attributes are not emptied: the account is closed. Without `values` the values at the platform are not known.
  if (!isLeaver && values)
    for (const [name, value] of Object.entries(wanted.attributes))
      if (isEmpty(value) && mayHaveValue(link, name) && isEmpty(values.get(name)))
        items.push({ kind: 'clearAttributes', ref, subject: name });
  return items.length === 0 ? undefined : { items, basis, marked: marked || (!isLeaver && !observed) };
}

/** Returns the drift note that tells the next sync of the resource which changes are done. */
export function toDoneNote({ items, basis }: Pick<DoneChanges, 'items' | 'basis'>): Drift {
  // `DoneChanges` have at least one item, and all items are of the same resource.
  const [first] = items as [Destruction, ...Destruction[]];
  const { kind } = parseRef(first.ref);
  const observed = Object.fromEntries(
    items.flatMap((item): [string, unknown][] => {
      if (item.kind === 'deactivate') return [['active', false]];
      if (item.kind === 'clearAttributes') return [[`attributes.${item.subject ?? ''}`, null]];
      return item.kind === 'delete' && kind === 'Group' ? [['displayName', null]] : [];
    }),
  );
  // The group was not found. One 404 does not prove that it is gone, so the removals of its members are not noted as done: the
  // next sync checks the group, and drops them when it is gone.
  const isGroupNotFound = items.some((item) => item.kind === 'delete');
  const done = items.flatMap((item) =>
    item.kind === 'removeMembers' && !isGroupNotFound ? (item.subject ?? []) : [],
  );
  return {
    ref: first.ref,
    ...basis,
    names: Object.keys(observed),
    observed,
    add: [],
    remove: [],
    done,
    priority: 'reconcile',
  };
}

/**
 * Stores the notes of done changes, so that the next sync ends their wait for a decision. Logs the members that somebody
 * else took out of a group; the sync of the resource logs the other changes.
 */
export async function noteDone(
  { drifts, links, outbox, target, clock }: ReconcileScope,
  done: readonly Drift[],
  { request, fence }: { request: string; fence?: string },
): Promise<void> {
  const noted = await drifts.note([...done], request, fence);
  const left = done.filter((each, index) => noted[index] === 'applied' && (each.done ?? []).length > 0);
  const groups = await links.getMany(
    target.name,
    left.map(({ ref }) => ref),
  );
  await outbox.log.append(
    left.map(({ ref, priority, done: out = [] }, index) => {
      const members = out.filter((member) => !isUnmanaged(member));
      const { id, core } = groups[index] ?? {};
      const name = String(core?.displayName ?? ref);
      return {
        ref,
        name,
        request,
        priority,
        members,
        generation: NO_GENERATION,
        accepted: clock.now(),
        attempt: 1,
        ...(id === undefined ? {} : { platformId: id }),
        action: 'none',
        status: 'skipped',
        reason: 'MadeByOthers',
        message: `${out.length === 1 ? 'this member is' : 'these members are'} not in ${name} at the platform: nothing of it waits for a decision any more`,
      };
    }),
  );
}

/** Numbers of held and rejected changes of a resource. */
type DecidableCounts = Record<'held' | 'rejected', number>;

/** Returns how many of the done changes of each resource are held, and how many rejected. */
export async function countDecidable(
  { guardStore }: Pick<ReconcileScope['outbox'], 'guardStore'>,
  done: readonly DoneChanges[],
): Promise<Map<Ref, DecidableCounts>> {
  const counts = new Map<Ref, DecidableCounts>();
  for (const { items } of done)
    for (const [index, verdict] of (await guardStore.verdictsOn(items)).entries()) {
      const ref = items[index]?.ref;
      // Without a verdict the guard neither holds the change nor knows a rejection of it.
      if (!ref || !verdict) continue;
      const known = counts.get(ref) ?? { held: 0, rejected: 0 };
      counts.set(ref, { ...known, [verdict]: known[verdict] + 1 });
    }
  return counts;
}

/**
 * Returns for each group how many of the done removals of members are decided with the account of the member, whose deactivation is
 * held or rejected. The guard has no verdict on such a removal, so `countDecidable` does not count it.
 */
export async function countAbsentLeavers(
  { guardStore }: Pick<ReconcileScope['outbox'], 'guardStore'>,
  done: readonly DoneChanges[],
): Promise<Map<Ref, number>> {
  const removals = done.flatMap(({ items }) =>
    items.flatMap((item) => {
      const user = removedUser(item);
      return user === undefined ? [] : [{ item, user: parseRef(user).id }];
    }),
  );
  const counts = new Map<Ref, number>();
  if (removals.length === 0) return counts;
  const [verdicts, decisions] = await Promise.all([
    guardStore.verdictsOn(removals.map(({ item }) => item)),
    guardStore.decisionsOfMembers(removals.map(({ user }) => user)),
  ]);
  for (const [index, { item }] of removals.entries()) {
    const isDecidedWithAccount = decisions[index] === 'follows' || decisions[index] === 'rejected';
    if (verdicts[index] === undefined && isDecidedWithAccount)
      counts.set(item.ref, (counts.get(item.ref) ?? 0) + 1);
  }
  return counts;
}

/** Returns a sentence without full stop: how many held and rejected changes of a resource need no operator any more. */
export function doneText({ held, rejected }: DecidableCounts): string {
  const parts = [
    ...(held > 0 ? [`${counted(held, 'change')} that ${held === 1 ? 'waits' : 'wait'} for a decision`] : []),
    ...(rejected > 0 ? [counted(rejected, 'rejected change')] : []),
  ];
  const isOne = held + rejected === 1;
  return `${parts.join(' and ')} ${isOne ? 'is' : 'are'} done at the platform already: the next reconcile, or scim-bridge sync, takes ${isOne ? 'it' : 'them'} off the list${BUT_NOT_ON_HOLD}`;
}

/**
 * Returns a sentence without full stop: how many members, whose removal waits for the decision about their account, the group at
 * the platform has lost already.
 * @param count 1 or more
 */
export const absentText = (count: number): string =>
  `${counted(count, 'member')} whose removal is decided with the account ${count === 1 ? 'is' : 'are'} not in the group at the platform: the next reconcile, or scim-bridge sync, takes ${count === 1 ? 'this removal' : 'these removals'} off the list${BUT_NOT_ON_HOLD}`;
