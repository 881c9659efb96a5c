// Finds an approval by its id (approval-id.ts), with the changes that the id covers. An id may be that of held changes, of a
// decision, or of a first approval, which waits for a second person.
import type { DesiredState } from '../../directory/desired-state.ts';
import type { ChangeList } from '../../directory/guard/held-changes.ts';
import { isSameApproval, lastPlaceOf, listIdOf, withinTarget } from './approval-id.ts';
import { readExpired } from './approval-ids.ts';
import { approvalsAt, isUndecided, toWaitingApproval, type FoundApproval } from './approvals-at.ts';

/**
 * Finds an approval by any id of approval-id.ts; undefined: there is none. For the id of a part: the decision about this part,
 * else its first approval.
 */
export async function findApproval(
  states: readonly DesiredState[],
  id: string,
): Promise<FoundApproval | undefined> {
  const isPart = listIdOf(id) !== id;
  const named = isPart ? await findPart(states, id) : await findList(states, id);
  // The id of a part is that of a decision, or else of a first approval.
  return named ?? (isPart ? findFirstApproval(states, id) : undefined);
}

/** Finds the decision about a part of a list. Of the approvals of a target, only decisions have the id of a part. */
async function findPart(states: readonly DesiredState[], id: string): Promise<FoundApproval | undefined> {
  return (await approvalsAround(states, id)).find((each) => isDecisionOf(each, id));
}

/**
 * Finds the held changes or the decision with the id of a whole list. A list may have grown or shrunk since it was shown: then
 * `list` has only the changes that the id covers.
 */
async function findList(states: readonly DesiredState[], id: string): Promise<FoundApproval | undefined> {
  const known = await approvalsAround(states, id);
  const decided = known.find((each) => isDecisionOf(each, id));
  const ofApproval = known.filter(({ approval }) => isSameApproval(approval.id, id));
  const held = ofApproval.find(({ approval }) => isUndecided(approval));
  const lastPlace = lastPlaceOf(id);
  if (held && (held.approval.id === id || lastPlace === undefined)) return held;
  if (held?.list && lastPlace !== undefined) {
    const shown = await upToPlace(held, held.list, id, lastPlace);
    // If nothing of the list is held any more and it was decided, the decision is returned below.
    if (shown.approval.total > 0 || !decided) return shown;
  }
  // A decision about a longer list of the approval covers this list; one about a shorter list lacks the changes held later.
  const found =
    decided ?? ofApproval.find(({ approval }) => (lastPlaceOf(approval.id) ?? 0) >= (lastPlace ?? 0));
  return found && { ...found, approval: { ...found.approval, id } };
}

/** Returns the approvals of the target with whose connection and name the id begins; none for an id of another form. */
async function approvalsAround(states: readonly DesiredState[], id: string): Promise<FoundApproval[]> {
  const known: FoundApproval[] = [];
  for (const state of states)
    for (const [target, outbox] of state.outboxes)
      if (id.startsWith(`${state.connection}.${target}.`))
        known.push(...(await approvalsAt(state, target, outbox)));
  return known;
}

const isDecisionOf = ({ approval }: FoundApproval, id: string): boolean =>
  approval.id === id && !isUndecided(approval);

/** Returns the held changes without those that were held after the list with this id was shown. The id does not cover them. */
async function upToPlace(
  held: FoundApproval,
  list: ChangeList,
  id: string,
  lastPlace: number,
): Promise<FoundApproval> {
  const shown = { ...list, upTo: lastPlace };
  const counts = await held.outbox.guardStore.countOf(shown);
  return { ...held, list: shown, approval: { ...held.approval, id, ...counts } };
}

/** Finds the first approval of a part of a list, with the changes of this part. */
async function findFirstApproval(
  states: readonly DesiredState[],
  id: string,
): Promise<FoundApproval | undefined> {
  const found = await findList(states, listIdOf(id));
  if (!found) return undefined;
  const source = isUndecided(found.approval) ? 'guardHeld' : 'guardRejected';
  const { firstApprovals, listOf } = found.outbox.guardStore;
  const first = await firstApprovals.find(withinTarget({ ...found.approval, id }), source);
  // A decision has no list; for a rejection, `listOf` returns the changes that are still rejected.
  const list = found.list ?? (await listOf('approve', withinTarget(found.approval)));
  if (!first || !list) return undefined;
  // Changes that were decided, or taken back by the source, since the first approval are not counted: no order reaches them.
  const counts = await firstApprovals.countStillIn(list, first.storedChoice);
  if (counts.total === 0) return undefined;
  const { selection } = first;
  // `stillRejected` and the counts are of the list, not of the part.
  const { stillRejected: _, ...approval } = found.approval;
  return {
    ...found,
    first,
    list,
    approval: {
      ...approval,
      id,
      ...counts,
      ...(selection === undefined ? {} : { selection }),
      firstApprovals: [toWaitingApproval(approval.connection, first)],
    },
  };
}

/** Held changes of the target of an id that fits no approval. */
interface HeldNow {
  /** Id of the approval that can be decided; undefined: there is none. */
  present?: string | undefined;
  /** Words about held changes whose approval has expired (`expiredText`); null: there are none. */
  expired: string | null;
}

/** Returns what is held now at the target of an id that fits no approval. */
export async function heldNow(states: readonly DesiredState[], id: string): Promise<HeldNow> {
  for (const { connection, outboxes } of states)
    for (const [target, { guardStore }] of outboxes) {
      if (!id.startsWith(`${connection}.${target}.`)) continue;
      const [open, expired] = await Promise.all([guardStore.open(), readExpired(target, guardStore)]);
      return { present: open && open.leftMs > 0 ? `${connection}.${open.id}` : undefined, expired };
    }
  return { expired: null };
}
