// Reads the list of groups without members, and decides whose members are worth reading: those that the platform says
// were changed since they were found equal, and some of the others in turn.
import { noCoverage, type Coverage } from '../directory/outbox/coverage.ts';
import { parseLink } from '../directory/outbox/links.ts';
import { fold, refOf, type Ref } from '../directory/records.ts';
import type { WireGroup } from '../platform/wire.ts';
import { compareWithList, readCover, type Orphans } from './cover.ts';
import type { ScanResult } from './scope.ts';
import { createListProof, type ListProof } from './list-proof.ts';
import { isPlain } from './scan-users.ts';
import { scanList } from './scan.ts';

const PAGE = 200;
const WALKS = 2;
/** Groups whose members are read although nothing speaks for it, oldest look first. */
const IN_TURN = 20;
/** A change in the same moment as the look could hide behind the same time stamp. */
const SETTLED_MS = 5000;

export interface GroupScan {
  proof: ListProof;
  coverage: Coverage;
  /** Listed ids that lead to a link with that id, which is neither marked nor kept as it is. */
  matched: number;
  /** To be looked at alone. */
  suspects: Set<Ref>;
  /** Whose members are to be read. */
  withMembers: Set<Ref>;
  byName: Map<string, { id: string; name: string }>;
  unmanaged: Map<string, string>;
  /** The platform's time of the last change of each linked group, where it is old enough to rely on. */
  changedAt: Map<Ref, string>;
  /** Where the next run goes on. */
  cursor: number;
  isListed: (platformId: string) => boolean;
}

export interface GroupChoice {
  /** Map all names anew. */
  everybody: boolean;
  /** Read the members of all groups. */
  full: boolean;
}

export async function scanGroups(
  survey: ScanResult,
  choice: GroupChoice,
  orphans: Orphans,
): Promise<GroupScan> {
  let found = await walk(survey, choice);
  for (let again = 1; again < WALKS && !found.proof.complete; again++) found = await walk(survey, choice);
  await addDesired(survey, found, choice, orphans);
  await takeTurns(survey, found);
  for (const ref of found.withMembers) found.suspects.add(ref);
  return found;
}

/** Adds what the list does not decide: absent, deleted, marked and lost groups, and all where names are mapped anew. */
async function addDesired(
  survey: ScanResult,
  found: GroupScan,
  choice: GroupChoice,
  orphans: Orphans,
): Promise<void> {
  const cover = await compareWithList(survey, 'Group', await readCover(survey, 'Group'), found);
  found.coverage = cover.coverage;
  const absent = found.proof.complete || choice.everybody ? cover.absent : [];
  const others = choice.everybody ? cover.atRest : [];
  for (const refs of [orphans.pending, orphans.lost, cover.pending, absent, others])
    for (const ref of refs) found.suspects.add(ref);
  // Which members changed unnoticed is not known either.
  for (const ref of cover.lost) found.withMembers.add(ref);
}

async function walk(survey: ScanResult, choice: GroupChoice): Promise<GroupScan> {
  const { estate, signal, tally } = survey;
  const reader = createListProof<WireGroup>();
  const draft: GroupScan = {
    proof: reader.verdict(),
    coverage: noCoverage(),
    matched: 0,
    suspects: new Set(),
    withMembers: new Set(),
    byName: new Map(),
    unmanaged: new Map(),
    changedAt: new Map(),
    cursor: await estate.runs.cursor('members'),
    isListed: (id) => reader.has(id),
  };
  const pages = scanList(
    (startIndex, count, pageSignal) => {
      tally.calls++;
      return estate.target.client.groups.list({ startIndex, count, members: false }, { signal: pageSignal });
    },
    reader,
    { clock: estate.clock, random: estate.random, signal, count: PAGE, inFlight: 2 },
  );
  let done = 0;
  for await (const groups of pages) {
    await takePage(survey, draft, groups, choice);
    done += groups.length;
    survey.onProgress({ phase: 'groups', done, total: Math.max(done, reader.verdict().total) });
  }
  draft.proof = reader.verdict();
  return draft;
}

async function takePage(
  survey: ScanResult,
  draft: GroupScan,
  groups: WireGroup[],
  choice: GroupChoice,
): Promise<void> {
  const { drifts, runs, others, clock } = survey.estate;
  const ids = groups.map(({ id }) => id);
  const holders = await drifts.counterparts('Group', ids);
  const elsewhere = await Promise.all(others.map((notes) => notes.counterparts('Group', ids)));
  const seen = await runs.groupsSeen(holders.map((holder) => holder?.ref ?? 'Group:'));
  groups.forEach((group, index) => {
    const holder = holders[index];
    const link = holder && parseLink(holder.text);
    if (!holder || link?.id !== group.id) {
      if (elsewhere.some((found) => found[index] !== undefined)) return;
      draft.unmanaged.set(group.id, group.displayName);
      draft.byName.set(fold(group.displayName), { id: group.id, name: group.displayName });
      return;
    }
    if (link.departed) return;
    if (!holder.marked && isPlain(link)) draft.matched++;
    const { ref } = holder;
    const applied = String(link.core?.displayName ?? '');
    if (choice.everybody || fold(applied) !== fold(group.displayName)) draft.suspects.add(ref);
    const changed = group.meta?.lastModified;
    if (choice.full || (changed !== undefined && changed !== seen[index])) draft.withMembers.add(ref);
    const isSettled = changed !== undefined && clock.now() - Date.parse(changed) > SETTLED_MS;
    if (isSettled) draft.changedAt.set(ref, changed);
  });
}

/** The next few in order of creation, from where the last run stopped. */
async function takeTurns(survey: ScanResult, found: GroupScan): Promise<void> {
  const { directory } = survey.estate;
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
    if (start === 0) return;
  }
}
