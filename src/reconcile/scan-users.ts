// Reads every user of the platform once and finds whoever differs. People for whom nothing is marked are compared with
// their links: those hold what was applied, which is what is desired as long as the mapping is the same.
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

/** Users per page that are asked for; the platform may lower it. */
const PAGE = 500;
const CHUNK = 500;
/** Pages that are compared at the same time. */
const PAGES_IN_WORK = 3;
/** Somebody is created or deleted while the list is read: then it is read once more. */
const WALKS = 2;

export interface UserScan {
  proof: ListProof;
  coverage: Coverage;
  /** Listed ids that lead to a link with that id, which is neither marked nor kept as it is. */
  matched: number;
  /** Whether the accounts are those that our links are about; see tenant.ts. */
  recognition: Recognition;
  /** Seen differently, or not seen: to be looked at alone. With the names that differ, where that is all there is to it. */
  suspects: Map<Ref, string[]>;
  /** Pending changes, and changes of the mapping; they need no second look. */
  settled: VerifiedUsers[];
  /** Marked, lost, or to be mapped, and not compared with what the platform showed. */
  unseen: Set<Ref>;
  strangers: Strangers;
  /** Platform ids that belong to nobody, with their names. */
  unmanaged: Map<string, string>;
  isListed: (platformId: string) => boolean;
}

/** @param everybody map all records instead of trusting the links: the mapping has changed, or a person asks */
export async function scanUsers(survey: ScanResult, everybody: boolean, orphans: Orphans): Promise<UserScan> {
  let found = await walk(survey, everybody);
  for (let again = 1; again < WALKS && !found.proof.complete; again++) found = await walk(survey, everybody);
  dropUnreturned(survey, found);
  await addDesired(survey, found, everybody, orphans);
  return found;
}

interface Draft extends UserScan {
  strangers: {
    byName: Map<string, { id: string; userName: string }>;
    byExternalId: Map<string, { id: string; userName: string }>;
  };
  seen: Set<Ref>;
  noteShown: (user: WireUser) => void;
  /** Stored records are read while the list arrives. */
  covering: Promise<Cover>;
}

async function walk(survey: ScanResult, everybody: boolean): Promise<Draft> {
  const { estate, signal, tally } = survey;
  const { client } = estate.target;
  const reader: ProofKeeper<WireUser> = createListProof();
  const draft: Draft = {
    proof: reader.verdict(),
    coverage: noCoverage(),
    matched: 0,
    recognition: { linked: 0, same: 0, other: 0, strangers: 0, namesakes: 0, hasMoved: survey.hasMoved },
    suspects: new Map(),
    settled: [],
    unseen: new Set(),
    strangers: { byName: new Map(), byExternalId: new Map() },
    unmanaged: new Map(),
    isListed: (id) => reader.has(id),
    seen: new Set(),
    noteShown: createShownNoter(survey.visibility),
    covering: readCover(survey, 'User'),
  };
  draft.covering.catch(() => undefined); // awaited after the walk
  const inWork: Promise<void>[] = [];
  let total = 0;
  let done = 0;
  const pages = scanList(
    async (startIndex, count, pageSignal) => {
      tally.calls++;
      const page = await client.users.list({ startIndex, count }, { signal: pageSignal });
      total = page.totalResults;
      return page;
    },
    reader,
    {
      clock: estate.clock,
      random: estate.random,
      signal,
      count: PAGE,
      inFlight: Math.max(1, Math.ceil(estate.concurrency / 2)),
    },
  );
  for await (const users of pages) {
    // Pages come in swarms. One in each turn, so that the next calls leave, once the budget lets them, between two of them.
    await nextTurn();
    // Redis is asked about this page while the next ones come from the platform.
    const work = takePage(survey, draft, users, everybody);
    work.catch(() => undefined); // awaited below
    inWork.push(work);
    if (inWork.length > PAGES_IN_WORK) await inWork.shift();
    done += users.length;
    survey.onProgress({ phase: 'users', done, total });
  }
  await Promise.all(inWork);
  draft.proof = reader.verdict();
  return draft;
}

async function takePage(
  survey: ScanResult,
  draft: Draft,
  page: WireUser[],
  everybody: boolean,
): Promise<void> {
  const users = everybody ? page : await withoutKnownEqual(survey, draft, page);
  if (users.length === 0) return;
  const holders = await survey.estate.drifts.counterparts(
    'User',
    users.map(({ id }) => id),
  );
  const equal: Print[] = [];
  const toMap: { holder: ObservedResource; link: Link; user: WireUser }[] = [];
  const strange: WireUser[] = [];
  const { types } = survey.estate.target.mapping;
  users.forEach((user, index) => {
    const holder = holders[index];
    const link = holder && parseLink(holder.text);
    // The way back may be older than the link: then this account is nobody's any more.
    if (!holder || link?.id !== user.id) {
      strange.push(user);
      return;
    }
    if (!holder.marked && isPlain(link)) draft.matched++;
    // A link that a repair restored knows nothing but the id.
    if (link.core?.userName !== undefined) draft.recognition[isAccountOf(link, user) ? 'same' : 'other']++;
    if (isProtected(link)) return;
    if (everybody || holder.marked) toMap.push({ holder, link, user });
    else {
      const found = differences(desiredFromLink(link), user, types, survey.visibility);
      if (found.length > 0)
        draft.suspects.set(
          holder.ref,
          found.map(({ name }) => name),
        );
      else if (isPlain(link)) equal.push(toPrint(holder, user));
    }
  });
  if (toMap.length > 0) equal.push(...(await mapAll(survey, draft, toMap)));
  await survey.remember(equal);
  if (strange.length > 0) await takeStrangers(survey, draft, strange);
}

/** Neither closed nor kept as it is: only such accounts are remembered as equal and counted as matched. */
export const isPlain = ({ departed, condition }: Link): boolean => !departed && condition === undefined;

const toPrint = ({ ref, text }: ObservedResource, user: WireUser): Print => ({
  ref,
  platformId: user.id,
  link: hashOfLink(text),
  print: printOf(user),
});

/** Takes out who looks as they did when they were equal, to a link that was not written since. */
async function withoutKnownEqual(survey: ScanResult, draft: Draft, users: WireUser[]): Promise<WireUser[]> {
  const seen = users.map((user) => ({ platformId: user.id, print: printOf(user) }));
  const others = new Set(await survey.estate.drifts.unlikePrints(seen));
  return users.filter((user, index) => {
    if (others.has(index)) return true;
    draft.recognition.same++;
    draft.matched++;
    draft.noteShown(user);
    return false;
  });
}

/** @returns those who are equal */
async function mapAll(
  survey: ScanResult,
  draft: Draft,
  cases: { holder: ObservedResource; link: Link; user: WireUser }[],
): Promise<Print[]> {
  const equal: Print[] = [];
  const wanted = await usersToVerify(
    survey,
    cases.map(({ holder }) => holder),
  );
  for (const { holder, link, user } of cases) {
    const { ref, text, marked } = holder;
    draft.seen.add(ref);
    const known: UserToVerify | undefined = wanted.get(ref);
    // Without a record it was deleted at the source, or is lost: the second look finds out which.
    if (!known) {
      draft.suspects.set(ref, []);
      continue;
    }
    const basis = { version: known.version, link: hashOfLink(text) };
    const common = { ref, link, basis };
    const mapped = { ...common, marked, wanted: known.wanted, observed: user };
    const entries: PlanEntry[] = [...userEntries(mapped, rulesOf(survey)), ...faultEntries(common, known)];
    if (entries.some(isDrift)) draft.suspects.set(ref, []);
    else if (entries.length > 0) draft.settled.push({ ref, entries, refusal: refusalOf(link, marked) });
    else if (!marked && isPlain(link)) equal.push(toPrint(holder, user));
  }
  return equal;
}

async function takeStrangers(survey: ScanResult, draft: Draft, users: WireUser[]): Promise<void> {
  const ids = users.map(({ id }) => id);
  const elsewhere = await Promise.all(survey.estate.others.map((notes) => notes.counterparts('User', ids)));
  users.forEach((user, index) => {
    // Managed through another connection: neither free to be taken nor unmanaged.
    if (elsewhere.some((holders) => holders[index] !== undefined)) return;
    const stranger = { id: user.id, userName: user.userName };
    draft.unmanaged.set(user.id, user.userName);
    draft.strangers.byName.set(fold(user.userName), stranger);
    if (user.externalId) draft.strangers.byExternalId.set(user.externalId, stranger);
  });
}

/** How many of `refs` are linked to an account that is gone while another account carries their name. */
async function countNamesakes({ estate }: ScanResult, refs: Ref[], { strangers }: Draft): Promise<number> {
  let namesakes = 0;
  for (const portion of chunks(refs)) {
    for (const { text } of await estate.drifts.standing(portion)) {
      const { userName } = parseLink(text).core ?? {};
      if (strangers.byName.has(fold(String(userName ?? '')))) namesakes++;
    }
  }
  return namesakes;
}

/** An attribute that this platform never returns says nothing about one account. */
function dropUnreturned({ visibility }: ScanResult, { suspects }: UserScan): void {
  for (const [ref, names] of suspects) {
    if (names.length > 0 && !names.some((name) => visibility.isVisible(name))) suspects.delete(ref);
  }
}

/** Adds whoever the list does not decide: absent, deleted, marked, lost and, where everybody is mapped, all others. */
async function addDesired(
  survey: ScanResult,
  found: Draft,
  everybody: boolean,
  orphans: Orphans,
): Promise<void> {
  const cover = await compareWithList(survey, 'User', await found.covering, found);
  found.coverage = cover.coverage;
  found.recognition = {
    ...found.recognition,
    linked: cover.coverage.linked,
    strangers: found.unmanaged.size,
    namesakes: found.recognition.same > 0 ? 0 : await countNamesakes(survey, cover.absent, found),
  };
  // Only a list that was read whole makes somebody a suspect of being gone.
  const suspects = found.proof.complete ? [...orphans.lost, ...cover.absent] : orphans.lost;
  for (const ref of suspects) found.suspects.set(ref, []);
  const others = everybody ? [...cover.absent, ...cover.atRest] : [];
  for (const refs of [orphans.pending, cover.pending, cover.lost, others])
    for (const ref of refs) if (!found.seen.has(ref) && !found.suspects.has(ref)) found.unseen.add(ref);
}

/** Refs in portions, so that a first load of everybody is looked at with bounded memory. */
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
