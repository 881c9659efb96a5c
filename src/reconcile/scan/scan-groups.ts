// Scans the list of groups, which shows no members, and selects the groups that are verified one by one (`suspects`), with or
// without their members (`withMembers`). Members are read of groups that changed at the platform since they were found equal, of
// those with an unconfirmed removal, and of a few others in turn.
import { discount, noCoverage, type Coverage, type CoverState } from '../../directory/outbox/coverage.ts';
import type { ObservedResource } from '../../directory/outbox/drift.ts';
import { isUnconditional, parseLink, type Link } from '../../directory/outbox/link.ts';
import { fold, parseRef, refOf, type Ref } from '../../directory/records.ts';
import type { WireGroup } from '../../platform/wire.ts';
import type { Clock } from '../../support/sources.ts';
import { noGroups } from '../compare/group-namesake.ts';
import { compareWithList, readCover, unlistedWaiting, type Orphans } from './cover.ts';
import type { ScanResult } from '../scope.ts';
import { createListProof, type ProofKeeper } from './list-proof.ts';
import { scanList } from './scan.ts';

/** Requested page size; the platform may lower it. */
const PAGE = 200;
/** Largest number of scans: the list is read once more if it changed while it was read. */
const MAX_SCANS = 2;
/** Number of unchanged groups whose members are read in each run, the longest unread first. */
const IN_TURN = 20;
/** Age from which a time of change is reliable: a further change in the same moment could have the same time stamp. */
const SETTLED_MS = 5000;

export type GroupScan = ReturnType<typeof createGroupScan>;

/** Returns the findings before the list is read. @param cursor position in the order of creation at which to read members */
const createGroupScan = (reader: ProofKeeper<WireGroup>, cursor: number) => ({
  proof: reader.verdict(),
  coverage: noCoverage(),
  /** As in `Cover` (cover.ts). */
  notDue: new Map<Ref, CoverState>(),
  /** Number of listed groups whose link is not departed and has no mark and no condition. */
  matched: 0,
  /** Groups to verify one by one. */
  suspects: new Set<Ref>(),
  /** Groups whose members have to be read. */
  withMembers: new Set<Ref>(),
  ...noGroups(),
  /** Unmanaged groups: platform id to name. */
  unmanaged: new Map<string, string>(),
  /** Time of the last change of each linked group, if it is old enough to be reliable. */
  changedAt: new Map<Ref, string>(),
  /** Position in the order of creation at which the next run continues to read members. */
  cursor,
  /** Returns whether the list showed the group. */
  isListed: (platformId: string): boolean => reader.has(platformId),
});

/** Which groups a run compares beyond those that changed. */
export interface GroupChoice {
  /** Compares every group, with its name mapped again, as after a change of the mapping. */
  mapsAll: boolean;
  /** Reads the members of all groups. */
  full: boolean;
}

/** Reads the whole list of groups, again if it was incomplete, and returns the groups that may differ. */
export async function scanGroups(
  scan: ScanResult,
  choice: GroupChoice,
  orphans: Orphans,
): Promise<GroupScan> {
  let found = await scanOnce(scan, choice);
  for (let again = 1; again < MAX_SCANS && !found.proof.complete; again++)
    found = await scanOnce(scan, choice);
  await addDesired(scan, found, choice, orphans);
  await takeTurns(scan, found);
  for (const ref of found.withMembers) found.suspects.add(ref);
  return found;
}

/** Reads the list once, and compares each page as it arrives. */
async function scanOnce(scan: ScanResult, choice: GroupChoice): Promise<GroupScan> {
  const { scope, signal, counts } = scan;
  const reader = createListProof<WireGroup>();
  const draft = createGroupScan(reader, await scope.runs.cursor('members'));
  const pages = scanList(
    (startIndex, count, pageSignal) =>
      scan.repeatAfter429(() => {
        counts.calls++;
        return scope.target.client.groups.list({ startIndex, count, members: false }, { signal: pageSignal });
      }),
    reader,
    // Few requests at once, because the longer list of users is read at the same time (scan-users.ts).
    { clock: scope.clock, random: scope.random, signal, count: PAGE, inFlight: 2 },
  );
  let done = 0;
  for await (const groups of pages) {
    await takePage(scan, draft, groups, choice);
    done += groups.length;
    // The list may have grown since the platform told its total.
    scan.onProgress({ phase: 'groups', done, total: Math.max(done, reader.verdict().total) });
  }
  draft.proof = reader.verdict();
  return draft;
}

/** Compares the groups of one page with their links, and adds them to the draft. */
async function takePage(
  scan: ScanResult,
  draft: GroupScan,
  groups: WireGroup[],
  choice: GroupChoice,
): Promise<void> {
  const { drifts, runs, outbox, others, clock } = scan.scope;
  const ids = groups.map(({ id }) => id);
  const holders = await drifts.linkedTo('Group', ids);
  const elsewhere = await Promise.all(others.map((notes) => notes.linkedTo('Group', ids)));
  // 'Group:' names no group: it keeps the place of a listed group that no resource is linked to.
  const seen = await runs.groupsSeen(holders.map((holder) => holder?.ref ?? 'Group:'));
  const unconfirmed = await Promise.all(
    holders.map(async (holder) => (holder ? outbox.unconfirmedRemovals(parseRef(holder.ref).id) : [])),
  );
  groups.forEach((group, index) => {
    const holder = holders[index];
    if (!holder) {
      const isTaken = elsewhere.some((found) => found[index] !== undefined);
      takeUnlinked(draft, group, isTaken);
      return;
    }
    const hasUnconfirmed = (unconfirmed[index] ?? []).length > 0;
    takeLinked(
      draft,
      group,
      { holder, link: parseLink(holder.text) },
      { choice, seenAt: seen[index], hasUnconfirmed, clock },
    );
  });
}

/** Keeps a group that no resource of this connection is linked to. @param isTaken another connection is linked to the group */
function takeUnlinked(draft: GroupScan, { id, displayName }: WireGroup, isTaken: boolean): void {
  // A group of another connection is neither adoptable nor unmanaged.
  if (isTaken) {
    draft.taken.set(fold(displayName), id);
    return;
  }
  draft.unmanaged.set(id, displayName);
  draft.byName.set(fold(displayName), { id, name: displayName });
}

/**
 * Compares a linked group with its link: by its name, and by its time of change, because the list shows no members.
 * @param facts.seenAt time of change at which the members were found equal last; `hasUnconfirmed`: a removal is not confirmed
 */
function takeLinked(
  draft: GroupScan,
  { displayName, meta }: WireGroup,
  { holder, link }: { holder: ObservedResource; link: Link },
  {
    choice,
    seenAt,
    hasUnconfirmed,
    clock,
  }: { choice: GroupChoice; seenAt: string | null | undefined; hasUnconfirmed: boolean; clock: Clock },
): void {
  const { ref, marked } = holder;
  if (!marked) draft.linked.set(fold(displayName), ref);
  // Members left the group at the source while the settings forbade their removal (`Link.leavers`); now they may allow it.
  if (link.leavers) draft.suspects.add(ref);
  // The bridge changes neither the name nor the members of a group that is out of scope.
  if (link.departed) return;
  if (!marked && isUnconditional(link)) draft.matched++;
  const applied = String(link.core?.displayName ?? '');
  if (choice.mapsAll || fold(applied) !== fold(displayName)) draft.suspects.add(ref);
  const changed = meta?.lastModified;
  // The members may have changed since they were found equal. A platform may tell no time of change.
  const hasChanged = changed !== undefined && changed !== seenAt;
  if (choice.full || hasChanged || hasUnconfirmed) draft.withMembers.add(ref);
  const isSettled = changed !== undefined && clock.now() - Date.parse(changed) > SETTLED_MS;
  if (isSettled) draft.changedAt.set(ref, changed);
}

/**
 * Adds groups that are verified whatever the list of the platform shows: those that it does not contain, those that were
 * deleted at the source, and those that are marked or lost. With `mapsAll` it adds every group, because each name is mapped
 * again.
 */
async function addDesired(
  scan: ScanResult,
  found: GroupScan,
  choice: GroupChoice,
  orphans: Orphans,
): Promise<void> {
  const cover = await compareWithList(scan, 'Group', await readCover(scan, 'Group'), found);
  found.coverage = cover.coverage;
  found.notDue = cover.notDue;
  const absent = found.proof.complete || choice.mapsAll ? cover.absent : [];
  const others = choice.mapsAll ? cover.atRest : [];
  const waiting = found.proof.complete ? await unlistedWaiting(scan, 'Group', found.isListed) : [];
  for (const refs of [orphans.pending, orphans.lost, cover.pending, absent, others, waiting])
    for (const ref of refs) found.suspects.add(ref);
  // The marks of members of a lost group may be lost too.
  for (const ref of cover.lost) found.withMembers.add(ref);
}

/**
 * Adds the next IN_TURN groups to those whose members this run reads, in order of creation. The turn starts where the last run
 * stopped, and goes on with the first group after the last one.
 */
async function takeTurns(scan: ScanResult, found: GroupScan): Promise<void> {
  const { directory } = scan.scope;
  let left = IN_TURN;
  for (const start of [found.cursor, 0]) {
    for await (const records of directory.scan('Group', start)) {
      for (const { id, place } of records.slice(0, left)) {
        found.withMembers.add(refOf('Group', id));
        found.cursor = place;
      }
      left -= Math.min(left, records.length);
      if (left === 0) return;
    }
    // The order of creation was read to its end from the first group on.
    if (start === 0) return;
  }
}

/** Returns the coverage without the groups that the settings leave out since their last sync. */
export function withoutLeftOut(
  { coverage, isListed, notDue }: GroupScan,
  leftOut: readonly { ref: Ref; platformId: string }[],
): Coverage {
  const rest = { ...coverage };
  for (const { ref, platformId } of leftOut) {
    const state = notDue.get(ref);
    discount(rest, state);
    // `seen` counts only groups that are linked and synced.
    if (state === undefined && rest.seen !== null && isListed(platformId)) rest.seen--;
  }
  return rest;
}
