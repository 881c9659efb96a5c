// Reads the approvals of one target: the changes that the guard holds, and the kept decisions.
import type { DesiredState } from '../../directory/desired-state.ts';
import type { Decision } from '../../directory/guard/stored-decisions.ts';
import { TOKEN_IDENTITY, type StoredFirstApproval } from '../../directory/guard/first-approvals.ts';
import { holdAdvice, type Hold } from '../../directory/guard/operator-hold.ts';
import type { ChangeList, Destruction, HeldChanges } from '../../directory/guard/held-changes.ts';
import type { Outbox } from '../../directory/outbox/outbox.ts';
import type { DestructiveKind } from '../../guard/judge.ts';
import { total } from '../../support/counted.ts';
import { isoTime } from '../../support/sources.ts';
import { isSameApproval } from './approval-id.ts';

export interface Approval {
  /** `<connection>.<target>.<serial>-<last place>`; of a decision about a part, followed by `~` and a digest (approval-id.ts). */
  id: string;
  connection: string;
  target: string;
  /**
   * `held`: it waits for a decision; `expired`: it was not decided in time, and the guard has not judged all its changes anew; the
   * others are decisions.
   */
  state: 'held' | 'expired' | 'approved' | 'rejected' | 'withdrawn';
  /** ISO 8601; absent after a decision. */
  openedAt?: string;
  /** ISO 8601: when held changes, or the unwritten changes of an approval, expire. */
  expiresAt?: string;
  /** Milliseconds from the read to `expiresAt`, by the clock of Redis; 0 or less: it has passed. Absent without `expiresAt`. */
  leftMs?: number;
  /** How the hold of the target ends, before which an expired list is not judged anew; absent: no hold, or decided. */
  endOfHold?: string;
  /** Time of the decision, ISO 8601; absent before. */
  at?: string;
  /** Operator who decided. */
  by?: string;
  /** Reason that this operator gave. */
  note?: string;
  /** Which part of the list was decided, in words; absent: all. */
  selection?: string;
  /** Number of changes of each kind; `total`: of all kinds. */
  kinds: Record<DestructiveKind, number>;
  total: number;
  /** Number of changes of a rejection that still stand: not withdrawn, not approved, and still wanted by the source. */
  stillRejected?: number;
  /**
   * Number of changes of an approval that are not written, and that the source has not taken back; absent: none. After `expiresAt`
   * the guard judges them anew, so they may be held under another id.
   */
  unwritten?: number;
  /** Approvals of one person where two have to approve, the oldest first. */
  firstApprovals?: WaitingApproval[];
}

/** An approval that waits for a second person, who approves its id. */
export interface WaitingApproval {
  id: string;
  /** Operator who approved first. */
  by: string;
  /** Whether the first approval came with the admin token, whose holders all count as one person. */
  withToken: boolean;
  /** Time of this first approval, ISO 8601. */
  at: string;
  /** Time before which the second approval has to come, ISO 8601. */
  expiresAt: string;
  total: number;
  note?: string;
  selection?: string;
}

/** An approval with the changes behind it: a list at the guard, or what a decision has kept. */
export type FoundApproval = {
  approval: Approval;
  state: DesiredState;
  outbox: Outbox;
  /** The list at the guard; absent for a decision. */
  list?: ChangeList;
  /** The changes that a decision has kept; empty with a list, whose changes are read in pages. */
  items: Destruction[];
  /** The first approval that the id names. */
  first?: StoredFirstApproval;
};

/** Returns whether an approval has no decision yet; it may have expired. */
export const isUndecided = ({ state }: Pick<Approval, 'state'>): boolean =>
  state === 'held' || state === 'expired';

/** A target, with all first approvals that wait there. */
interface Place {
  state: DesiredState;
  target: string;
  outbox: Outbox;
  firsts: readonly StoredFirstApproval[];
}

/** Returns the approvals of one target: the held changes first, then the kept decisions. */
export async function approvalsAt(
  state: DesiredState,
  target: string,
  outbox: Outbox,
): Promise<FoundApproval[]> {
  const { guardStore } = outbox;
  const open = await guardStore.open();
  const hold = open && (await guardStore.onHold());
  const firsts = await guardStore.firstApprovals.list();
  const place = { state, target, outbox, firsts };
  const decisions = await guardStore.decisions();
  const decided = await Promise.all(decisions.map((decision) => toDecided(place, decision)));
  return open ? [toUndecided(place, open, hold), ...decided] : decided;
}

/** Returns the approval of the held changes; `leftMs` tells whether it has expired. */
function toUndecided(place: Place, open: HeldChanges, hold: Hold | undefined): FoundApproval {
  const { state, target, outbox } = place;
  const { connection } = state;
  const { id, openedAt, expiresAt, leftMs, kinds, total } = open;
  const approval: Approval = {
    id: `${connection}.${id}`,
    connection,
    target,
    state: leftMs > 0 ? 'held' : 'expired',
    openedAt: isoTime(openedAt),
    expiresAt: isoTime(expiresAt),
    leftMs,
    ...(hold ? { endOfHold: holdAdvice(target, hold) } : {}),
    kinds,
    total,
    ...firstsOfHeld(place, id),
  };
  return { state, outbox, items: [], list: open, approval };
}

/** State of an approval after each decision. */
const STATES = { approve: 'approved', reject: 'rejected', withdraw: 'withdrawn' } as const;

/** Returns a decision as an approval, with the number of its changes that are still rejected or not written. */
async function toDecided(place: Place, decision: Decision): Promise<FoundApproval> {
  const { state, target, outbox } = place;
  const { connection } = state;
  const { id, action, at, by, note, selection, kinds, items } = decision;
  return {
    state,
    outbox,
    items,
    approval: {
      id: `${connection}.${id}`,
      connection,
      target,
      state: STATES[action],
      at: isoTime(at),
      by,
      ...(note === undefined ? {} : { note }),
      ...(selection === undefined ? {} : { selection }),
      kinds,
      total: total(Object.values(kinds)),
      ...(action === 'reject' ? await stillRejectedOf(place, decision) : await unwrittenOf(outbox, decision)),
    },
  };
}

async function stillRejectedOf(place: Place, { serial, upTo, number }: Decision): Promise<Partial<Approval>> {
  // `numbers` limits the list to the changes that this decision rejected.
  const list = { source: 'guardRejected', serial, upTo, numbers: [number] } as const;
  const counts = await place.outbox.guardStore.countOf(list);
  return { stillRejected: counts.total, ...(await firstsOfRejection(place, number)) };
}

async function unwrittenOf({ guardStore }: Outbox, { approvedUntil }: Decision): Promise<Partial<Approval>> {
  if (approvedUntil === undefined) return {};
  const { count, leftMs } = await guardStore.countUnwritten(approvedUntil);
  return count === 0 ? {} : { unwritten: count, expiresAt: isoTime(approvedUntil), leftMs };
}

/** Returns the first approvals of the held changes, also of parts of them. */
const firstsOfHeld = (place: Place, id: string): Pick<Approval, 'firstApprovals'> =>
  // The list of held changes grows, so a first approval of it may have an earlier last place.
  shownFirsts(
    place,
    place.firsts.filter((first) => first.source === 'guardHeld' && isSameApproval(first.id, id)),
  );

/** Returns the first approvals that cover changes of a rejection. @param number of the decision */
async function firstsOfRejection(place: Place, number: number): Promise<Pick<Approval, 'firstApprovals'>> {
  const { firstApprovals } = place.outbox.guardStore;
  const ofRejected = place.firsts.filter(({ source }) => source === 'guardRejected');
  const covers = await Promise.all(ofRejected.map((first) => firstApprovals.coversRejection(first, number)));
  return shownFirsts(
    place,
    ofRejected.filter((_, index) => covers[index]),
  );
}

const shownFirsts = (
  { state }: Place,
  found: readonly StoredFirstApproval[],
): Pick<Approval, 'firstApprovals'> =>
  found.length === 0
    ? {}
    : { firstApprovals: found.map((first) => toWaitingApproval(state.connection, first)) };

/** Returns a first approval as operators see it. */
export const toWaitingApproval = (
  connection: string,
  { id, by, at, expiresAt, total, note, selection, identity }: StoredFirstApproval,
): WaitingApproval => ({
  id: `${connection}.${id}`,
  by,
  withToken: identity === TOKEN_IDENTITY,
  at: isoTime(at),
  expiresAt: isoTime(expiresAt),
  total,
  ...(note === undefined ? {} : { note }),
  ...(selection === undefined ? {} : { selection }),
});
