// Scans all users of the platform and finds those that differ. Users without a mark are compared with their links, which
// hold the applied state; it equals the desired state while the mapping is unchanged.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { noCoverage, type Coverage } from '../directory/outbox/coverage.ts';
import { hashOfLink, type ObservedResource, type Print } from '../directory/outbox/drift.ts';
import { parseLink, type Link } from '../directory/outbox/links.ts';
import { fold, type Ref } from '../directory/records.ts';
import type { WireUser } from '../platform/wire.ts';
import { compareWithList, readCover, type Cover, type Orphans } from './cover.ts';
import { createShownNoter, differences, printOf, desiredFromLink } from './compare.ts';
import { isDrift, isProtected, refusalOf, type PlanEntry } from './entry.ts';
import type { ScanResult } from './scope.ts';
import {
  asking,
  groupsOfAccount,
  isReturning,
  faultEntries,
  rulesOf,
  usersToVerify,
  type VerifiedUsers,
  type Strangers,
  type UserToVerify,
} from './verify-users.ts';
import type { Recognition } from './tenant.ts';
import { isAccountOf } from '../sync/recognise.ts';
import { createListProof, type ListProof, type ProofKeeper } from './list-proof.ts';
import { userEntries } from './plan-users.ts';
import { scanList } from './scan.ts';

/** Requested page size; the platform may lower it. */
const PAGE = 500;
const CHUNK = 500;
/** Pages that are compared at the same time. */
const PAGES_IN_WORK = 3;
/** Number of scans: the list is read again when it changed while it was read. */
const WALKS = 2;

export interface UserScan {
  proof: ListProof;
  coverage: Coverage;
  /** Number of listed ids with a link that has no mark and no condition. */
  matched: number;
  /** Counts by which tenant.ts recognises the tenant. */
  recognition: Recognition;
  /** Users to verify one by one, because they differ or were not shown; with the names of the differing attributes if known. */
  suspects: Map<Ref, string[]>;
  /** Pending changes and changes of the mapping, which need no verification. */
  settled: VerifiedUsers[];
  /** Marked, lost or newly mapped users that were not compared with a listed account. */
  unseen: Set<Ref>;
  strangers: Strangers;
  /** Platform ids of unmanaged accounts, with their names. */
  unmanaged: Map<string, string>;
  isListed: (platformId: string) => boolean;
}

/** @param everybody maps all records instead of using the links, after a change of the mapping or on request */
export async function scanUsers(scan: ScanResult, everybody: boolean, orphans: Orphans): Promise<UserScan> {
  let found = await walk(scan, everybody);
  for (let again = 1; again < WALKS && !found.proof.complete; again++) found = await walk(scan, everybody);
  await noteUndefined(scan, found);
  dropUnreturned(scan, found);
  await addDesired(scan, found, everybody, orphans);
  return found;
}

interface Draft extends UserScan {
  strangers: {
    byName: Map<string, { id: string; userName: string }>;
    byExternalId: Map<string, { id: string; userName: string }>;
  };
  seen: Set<Ref>;
  noteShown: (user: WireUser) => void;
  /** Reads stored records in parallel to the list. */
  covering: Promise<Cover>;
}

async function walk(scan: ScanResult, everybody: boolean): Promise<Draft> {
  const { scope, signal, counts } = scan;
  const { client } = scope.target;
  const reader: ProofKeeper<WireUser> = createListProof();
  const draft: Draft = {
    proof: reader.verdict(),
    coverage: noCoverage(),
    matched: 0,
    recognition: { linked: 0, same: 0, other: 0, strangers: 0, namesakes: 0, hasMoved: scan.hasMoved },
    suspects: new Map(),
    settled: [],
    unseen: new Set(),
    strangers: { byName: new Map(), byExternalId: new Map() },
    unmanaged: new Map(),
    isListed: (id) => reader.has(id),
    seen: new Set(),
    noteShown: createShownNoter(scan.visibility),
    covering: readCover(scan, 'User'),
  };
  draft.covering.catch(() => undefined); // awaited after the walk
  const inWork: Promise<void>[] = [];
  let total = 0;
  let done = 0;
  const pages = scanList(
    async (startIndex, count, pageSignal) => {
      counts.calls++;
      const page = await client.users.list({ startIndex, count }, { signal: pageSignal });
      total = page.totalResults;
      return page;
    },
    reader,
    {
      clock: scope.clock,
      random: scope.random,
      signal,
      count: PAGE,
      inFlight: Math.max(1, Math.ceil(scope.concurrency / 2)),
    },
  );
  for await (const users of pages) {
    // Processes one page in each turn of the event loop, so that the next requests are sent in between.
    await nextTurn();
    // Reads the links of this page while the next pages arrive from the platform.
    const work = takePage(scan, draft, users, everybody);
    work.catch(() => undefined); // awaited below
    inWork.push(work);
    if (inWork.length > PAGES_IN_WORK) await inWork.shift();
    done += users.length;
    scan.onProgress({ phase: 'users', done, total });
  }
  await Promise.all(inWork);
  draft.proof = reader.verdict();
  return draft;
}

async function takePage(scan: ScanResult, draft: Draft, page: WireUser[], everybody: boolean): Promise<void> {
  const users = everybody ? page : await withoutKnownEqual(scan, draft, page);
  if (users.length === 0) return;
  const holders = await scan.scope.drifts.linkedTo(
    'User',
    users.map(({ id }) => id),
  );
  const equal: Print[] = [];
  const toMap: { holder: ObservedResource; link: Link; user: WireUser }[] = [];
  const strange: WireUser[] = [];
  const { types } = scan.scope.target.mapping;
  users.forEach((user, index) => {
    const holder = holders[index];
    const link = holder && parseLink(holder.text);
    // The reverse link may be out of date; then no resource is linked to this account.
    if (!holder || link?.id !== user.id) {
      strange.push(user);
      return;
    }
    if (!holder.marked && isPlain(link)) draft.matched++;
    // A link that a repair restored contains only the id.
    if (link.core?.userName !== undefined) draft.recognition[isAccountOf(link, user) ? 'same' : 'other']++;
    if (isProtected(link, scan.scope.target.policy.users.protected)) return;
    if (everybody || holder.marked) toMap.push({ holder, link, user });
    else {
      const found = differences(desiredFromLink(link), user, types, scan.visibility);
      if (found.length > 0)
        draft.suspects.set(
          holder.ref,
          found.map(({ name }) => name),
        );
      else if (isPlain(link)) equal.push(toPrint(holder, user));
    }
  });
  if (toMap.length > 0) equal.push(...(await mapAll(scan, draft, toMap)));
  await scan.remember(equal);
  if (strange.length > 0) await takeStrangers(scan, draft, strange);
}

/** Returns whether the account is open and has no condition; only such accounts are counted as matched. */
export const isPlain = ({ departed, condition }: Link): boolean => !departed && condition === undefined;

const toPrint = ({ ref, text }: ObservedResource, user: WireUser): Print => ({
  ref,
  platformId: user.id,
  link: hashOfLink(text),
  print: printOf(user),
});

/** Removes users whose fingerprint equals that of an earlier match and whose link was not written since. */
async function withoutKnownEqual(scan: ScanResult, draft: Draft, users: WireUser[]): Promise<WireUser[]> {
  const seen = users.map((user) => ({ platformId: user.id, print: printOf(user) }));
  const others = new Set(await scan.scope.drifts.unlikePrints(seen));
  return users.filter((user, index) => {
    if (others.has(index)) return true;
    draft.recognition.same++;
    draft.matched++;
    draft.noteShown(user);
    return false;
  });
}

/** Compares users by mapping their records. @returns the equal ones */
async function mapAll(
  scan: ScanResult,
  draft: Draft,
  cases: { holder: ObservedResource; link: Link; user: WireUser }[],
): Promise<Print[]> {
  const equal: Print[] = [];
  const wanted = await usersToVerify(
    scan,
    cases.map(({ holder }) => holder),
  );
  for (const { holder, link, user } of cases) {
    const { ref, text, marked } = holder;
    draft.seen.add(ref);
    const known: UserToVerify | undefined = wanted.get(ref);
    // A user without record was deleted at the source or is lost; the verification decides.
    if (!known) {
      draft.suspects.set(ref, []);
      continue;
    }
    const basis = { version: known.version, link: hashOfLink(text) };
    const common = { ref, link, basis };
    const mapped = { ...common, marked, wanted: known.wanted, observed: user };
    const entries: PlanEntry[] = [...userEntries(mapped, rulesOf(scan)), ...faultEntries(common, known)];
    if (entries.some(isDrift)) draft.suspects.set(ref, []);
    else if (entries.length > 0)
      draft.settled.push({
        ...{ ref, entries, refusal: refusalOf(link, marked) },
        ...{ memberOf: groupsOfAccount(user), isReturning: isReturning(link, known) },
      });
    else if (!marked && isPlain(link)) equal.push(toPrint(holder, user));
  }
  return equal;
}

async function takeStrangers(scan: ScanResult, draft: Draft, users: WireUser[]): Promise<void> {
  const ids = users.map(({ id }) => id);
  const elsewhere = await Promise.all(scan.scope.others.map((notes) => notes.linkedTo('User', ids)));
  users.forEach((user, index) => {
    // The account is linked by another connection, so it is neither adoptable nor unmanaged.
    if (elsewhere.some((holders) => holders[index] !== undefined)) return;
    const stranger = { id: user.id, userName: user.userName };
    draft.unmanaged.set(user.id, user.userName);
    draft.strangers.byName.set(fold(user.userName), stranger);
    if (user.externalId) draft.strangers.byExternalId.set(user.externalId, stranger);
  });
}

/** Counts users whose linked account is gone while another account has their name. */
async function countNamesakes({ scope }: ScanResult, refs: Ref[], { strangers }: Draft): Promise<number> {
  let namesakes = 0;
  for (const portion of chunks(refs)) {
    for (const { text } of await scope.drifts.observe(portion)) {
      const { userName } = parseLink(text).core ?? {};
      if (strangers.byName.has(fold(String(userName ?? '')))) namesakes++;
    }
  }
  return namesakes;
}

/**
 * An attribute that the platform does not define, or defines with another type, has no value anywhere, so that no account shows
 * it is a difference.
 */
async function noteUndefined(scan: ScanResult, { suspects }: UserScan): Promise<void> {
  const { visibility, scope } = scan;
  const isHidden = (name: string): boolean => name.startsWith('attributes.') && !visibility.isVisible(name);
  if (![...suspects.values()].some((names) => names.some(isHidden))) return;
  const faults = await asking(scan, (signal) => scope.target.catalogue.faults(signal));
  if (faults === 'absent' || faults === 'unknown') return;
  for (const name of [...faults.missing, ...faults.conflicts.keys()])
    visibility.note(`attributes.${name}`, true);
}

/** Removes differences of attributes that the platform never returns. */
function dropUnreturned({ visibility }: ScanResult, { suspects }: UserScan): void {
  for (const [ref, names] of suspects) {
    if (names.length > 0 && !names.some((name) => visibility.isVisible(name))) suspects.delete(ref);
  }
}

/** Adds users that the list cannot decide: absent, deleted, marked and lost ones, and all others when everybody is mapped. */
async function addDesired(
  scan: ScanResult,
  found: Draft,
  everybody: boolean,
  orphans: Orphans,
): Promise<void> {
  const cover = await compareWithList(scan, 'User', await found.covering, found);
  found.coverage = cover.coverage;
  found.recognition = {
    ...found.recognition,
    linked: cover.coverage.linked,
    strangers: found.unmanaged.size,
    namesakes: found.recognition.same > 0 ? 0 : await countNamesakes(scan, cover.absent, found),
  };
  // An absence counts only after a complete list.
  const suspects = found.proof.complete ? [...orphans.lost, ...cover.absent] : orphans.lost;
  for (const ref of suspects) found.suspects.set(ref, []);
  const others = everybody ? [...cover.absent, ...cover.atRest] : [];
  for (const refs of [orphans.pending, cover.pending, cover.lost, others])
    for (const ref of refs) if (!found.seen.has(ref) && !found.suspects.has(ref)) found.unseen.add(ref);
}

/** Splits refs into portions, so that memory stays bounded. */
export function* chunks<T>(items: Iterable<T>): Generator<T[]> {
  let chunk: T[] = [];
  for (const item of items) {
    chunk.push(item);
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
