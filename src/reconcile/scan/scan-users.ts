// Scans all users of the platform and finds those that differ: `scanOnce` compares the pages of the user list, `noteUndefined`
// and `decideHidden` judge the attributes that no account shows, and `addDesired` adds the stored users that the list cannot
// settle. Users without a mark are compared with the applied state in their links, because it equals the desired state while the
// mapping is unchanged. The fields of the draft, such as `suspects` (users to verify one by one), are explained at UserScan
// (user-scan.ts), the states of resources at Cover (cover.ts).
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseLink, type Link } from '../../directory/outbox/link.ts';
import { fold, type Ref } from '../../directory/records.ts';
import { inPortions } from '../../directory/redis/portions.ts';
import type { WireUser } from '../../platform/wire.ts';
import { compareWithList, readCover, type Orphans, unlistedWaiting } from './cover.ts';
import { compareUserPage } from './compare-user-page.ts';
import { createListProof } from './list-proof.ts';
import { scanList } from './scan.ts';
import { createUserScan, type UserScan } from './user-scan.ts';
import type { ScanResult } from '../scope.ts';
import { findLost, LOST_SAMPLES } from '../compare/lost-values.ts';
import { asking } from '../compare/platform-reads.ts';

/** Requested page size; the platform may lower it. */
const PAGE = 500;
/** Number of links that are read at once. */
const LINKS_AT_ONCE = 500;
/** Number of pages that are compared at the same time. */
const PAGES_IN_WORK = 3;
/** Largest number of scans: the list is read once more if it changed while it was read. */
const MAX_SCANS = 2;

/**
 * Reads the whole user list, again if it was incomplete, and returns the users that differ.
 * @param mapsAll whether accounts are compared with mapped records instead of links, as after a change of the mapping
 */
export async function scanUsers(scan: ScanResult, mapsAll: boolean, orphans: Orphans): Promise<UserScan> {
  let found = await scanOnce(scan, mapsAll);
  for (let again = 1; again < MAX_SCANS && !found.proof.complete; again++)
    found = await scanOnce(scan, mapsAll);
  await noteUndefined(scan, found);
  await decideHidden(scan, found);
  await addDesired(scan, found, mapsAll, orphans);
  return found;
}

/** Reads the list once, and compares each page while the next ones arrive. */
async function scanOnce(scan: ScanResult, mapsAll: boolean): Promise<UserScan> {
  const { scope, signal, counts } = scan;
  const { client } = scope.target;
  const reader = createListProof<WireUser>();
  const draft = createUserScan(reader, scan.hasMoved, readCover(scan, 'User'));
  draft.covering.catch(() => undefined); // awaited by addDesired
  const inWork: Promise<void>[] = [];
  let total = 0;
  let done = 0;
  const pages = scanList(
    async (startIndex, count, pageSignal) => {
      const page = await scan.repeatAfter429(() => {
        counts.calls++;
        return client.users.list({ startIndex, count }, { signal: pageSignal });
      });
      total = page.totalResults;
      return page;
    },
    reader,
    {
      clock: scope.clock,
      random: scope.random,
      signal,
      count: PAGE,
      // Half of the concurrent calls, because the groups are read at the same time (scan-groups.ts), and syncs go on.
      inFlight: Math.max(1, Math.ceil(scope.concurrency / 2)),
    },
  );
  for await (const users of pages) {
    // Processes one page in each turn of the event loop, so that the next requests are sent in between.
    await nextTurn();
    // Reads the links of this page while the next pages arrive from the platform.
    const work = compareUserPage(scan, draft, users, mapsAll);
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

/**
 * Notes mapped attributes that the platform does not define, or defines with another type, as visible. No account has a value for
 * them. Without this note the missing values would count as not returned by the lists, and would not be differences.
 */
async function noteUndefined(scan: ScanResult, { suspects }: UserScan): Promise<void> {
  const { visibility, scope } = scan;
  const hasHidden = [...suspects.values()].some((names) => names.some((name) => isHidden(visibility, name)));
  if (!hasHidden) return;
  const faults = await asking(scan, (signal) => scope.target.catalogue.faults(signal));
  // Without the definitions nothing is known, and the missing values count as not returned.
  if (faults === 'absent' || faults === 'unknown') return;
  for (const name of [...faults.missing, ...faults.conflicts.keys()])
    visibility.note(`attributes.${name}`, true);
}

/**
 * Decides about suspects that differ in attributes which no account of the list shows. If the value lists of a few users show that
 * such an attribute has lost its values at the platform (`findLost`), its suspects are added to `valued`: their attribute values
 * are read too. Otherwise the list does not return the attribute. A suspect that differs in no other value is then dropped, and its
 * entry in `besides`, if any, becomes `settled`.
 */
async function decideHidden(
  scan: ScanResult,
  { suspects, valued, settled, besides }: UserScan,
): Promise<void> {
  const { visibility } = scan;
  const hidden = new Map<string, Ref[]>();
  for (const [ref, names] of suspects)
    for (const name of names)
      if (isHidden(visibility, name))
        hidden.set(name, [...(hidden.get(name) ?? []), ref].slice(0, LOST_SAMPLES));
  const lost = await findLost(scan, hidden);
  for (const [ref, names] of suspects) {
    if (names.some((name) => lost.has(name))) valued.add(ref);
    // []: the differing attributes are not known, so the suspect stays.
    else if (names.length > 0 && !names.some((name) => visibility.isVisible(name))) {
      suspects.delete(ref);
      const rest = besides.get(ref);
      if (rest) settled.push(rest);
    }
  }
}

/** Returns whether a user attribute is one that no account of the list shows. */
const isHidden = (visibility: ScanResult['visibility'], name: string): boolean =>
  name.startsWith('attributes.') && !visibility.isVisible(name);

/**
 * Sets the coverage, and the counts by which the tenant is recognised. Then adds users that need a comparison of their own
 * (compare-all.ts verifies both sets in the same way):
 * - To `suspects`: people deleted at the source whose account is still to be closed or deleted although no sync is due
 *   (`orphans.lost`). After a complete list also linked users, and users with a held or rejected change, whose account the list
 *   does not show.
 * - To `unseen`: users that no page compared. These are marked and lost users, and with `mapsAll`, which maps every record again,
 *   all others.
 */
async function addDesired(
  scan: ScanResult,
  found: UserScan,
  mapsAll: boolean,
  orphans: Orphans,
): Promise<void> {
  const cover = await compareWithList(scan, 'User', await found.covering, found);
  found.coverage = cover.coverage;
  const { linked } = cover.coverage;
  const recognition = { ...found.recognition, linked, strangers: found.unmanaged.size };
  // One recognised account proves the tenant, so nothing else is counted.
  if (recognition.same === 0) {
    // `linked` lacks users with a pending, lost or refused change, whose accounts belong to the tenant too.
    const notCounted = [...cover.pending, ...cover.lost, ...cover.atRest];
    recognition.linked += await countLinks(scan, notCounted, ({ id }) => id !== undefined);
    // The account of the link is gone while another account has its name.
    recognition.namesakes = await countLinks(scan, [...cover.absent, ...notCounted], ({ core }) =>
      found.strangers.byName.has(fold(String(core?.userName ?? ''))),
    );
  }
  found.recognition = recognition;
  // A user that a list does not show counts as absent only if the list is proven complete.
  const waiting = found.proof.complete ? await unlistedWaiting(scan, 'User', found.isListed) : [];
  const suspects = found.proof.complete ? [...orphans.lost, ...cover.absent, ...waiting] : orphans.lost;
  // []: no account was compared, so no differing attribute is known.
  for (const ref of suspects) found.suspects.set(ref, []);
  const remapped = mapsAll ? [...cover.absent, ...cover.atRest] : [];
  for (const refs of [orphans.pending, cover.pending, cover.lost, remapped])
    for (const ref of refs) if (!found.seen.has(ref) && !found.suspects.has(ref)) found.unseen.add(ref);
}

/** Returns the number of users whose link fulfils a condition. */
async function countLinks(
  { scope }: ScanResult,
  refs: Ref[],
  fulfils: (link: Link) => boolean,
): Promise<number> {
  let count = 0;
  for (const portion of inPortions(refs, LINKS_AT_ONCE))
    for (const { text } of await scope.drifts.readLinks(portion)) if (fulfils(parseLink(text))) count++;
  return count;
}
