// Compares one page of the platform's user list with the stored links, and sorts its accounts into a UserScan: equal ones are only
// counted, differing ones become suspects, which are verified one by one later, and accounts without link are kept as strangers.
// Where the link does not show the desired state, the record of the user is mapped and compared (compare-mapped.ts).
import type { Print } from '../../directory/outbox/drift.ts';
import { isNeverRenamed, isUnconditional, parseLink, type Link } from '../../directory/outbox/link.ts';
import { parseRef, type Ref } from '../../directory/records.ts';
import type { WireUser } from '../../platform/wire.ts';
import { EXTENSION } from '../../sync/diff.ts';
import { isAccountOf } from '../../sync/calls/recognise.ts';
import { desiredFromLink, differences, hasUnknownValue, printOf } from '../compare/compare.ts';
import { deletionDue } from '../../sync/user/deletion-due.ts';
import { awaitsDecision } from '../compare/done-changes.ts';
import { isProtected, protectionAt } from '../compare/protected.ts';
import type { ScanResult } from '../scope.ts';
import { noteShown } from '../compare/shown-attributes.ts';
import { addAccount, addFormer } from '../compare/strangers.ts';
import { addWaitingValues, compareMapped, toPrint, type MappedCase } from './compare-mapped.ts';
import type { UserScan } from './user-scan.ts';

/** Accounts of one page that need more reads of Redis, or a note. */
interface SortedPage {
  /** Fingerprints of accounts that are equal to their link. */
  equal: Print[];
  /** Users whose record is mapped, because the link does not show the desired state. */
  toMap: MappedCase[];
  /** Users who equal their link, and of whom the guard holds a change. */
  held: MappedCase[];
  /** Leavers whose account is closed. */
  closed: Ref[];
  /** Accounts that no user of this connection is linked to. */
  unlinked: WireUser[];
}

/** Compares the accounts of one page and adds them to the draft. @param mapsAll true: each linked user's record is mapped */
export async function compareUserPage(
  scan: ScanResult,
  draft: UserScan,
  page: WireUser[],
  mapsAll: boolean,
): Promise<void> {
  // The policy `create-only` leaves differences of values, so neither a link nor a fingerprint shows the desired state.
  const isCreateOnly = scan.scope.target.policy.policy === 'create-only';
  const users = mapsAll || isCreateOnly ? page : await withoutKnownEqual(scan, draft, page);
  if (users.length === 0) return;
  const holders = await scan.scope.drifts.linkedTo(
    'User',
    users.map(({ id }) => id),
  );
  const sorted: SortedPage = { equal: [], toMap: [], held: [], closed: [], unlinked: [] };
  const protection = protectionAt(scan.scope.target);
  users.forEach((user, index) => {
    const holder = holders[index];
    if (!holder) {
      sorted.unlinked.push(user);
      return;
    }
    const link = parseLink(holder.text);
    noteLinked(scan, draft, { holder, link, user });
    if (!isProtected(link, protection)) sortLinked(scan, draft, { holder, link, user }, { mapsAll, sorted });
  });
  const { equal, toMap, held, closed, unlinked } = sorted;
  await suspectDueDeletions(scan, draft, closed);
  if (held.length > 0) await addWaitingValues(scan, draft, held);
  if (toMap.length > 0) equal.push(...(await compareMapped(scan, draft, toMap)));
  await scan.remember(equal);
  if (unlinked.length > 0) await takeStrangers(scan, draft, unlinked);
}

/** Counts users whose fingerprint and link are unchanged since an earlier match as equal. @returns the other users */
async function withoutKnownEqual(scan: ScanResult, draft: UserScan, users: WireUser[]): Promise<WireUser[]> {
  const seen = users.map((user) => ({ platformId: user.id, print: printOf(user) }));
  const others = new Set(await scan.scope.drifts.unlikePrints(seen));
  return users.filter((user, index) => {
    if (others.has(index)) return true;
    draft.recognition.same++;
    draft.matched++;
    noteShown(scan.visibility, user);
    return false;
  });
}

/** Counts a linked account, also for the recognition of the tenant, and keeps the name of an account that no sync renames. */
function noteLinked(scan: ScanResult, draft: UserScan, { holder, link, user }: MappedCase): void {
  if (!holder.marked && isUnconditional(link)) draft.matched++;
  // A link that a repair restored contains only the id.
  if (link.core?.userName !== undefined) draft.recognition[isAccountOf(link, user) ? 'same' : 'other']++;
  if (isNeverRenamed(link) && !holder.marked)
    addFormer(draft.strangers.former, user, holder, scan.scope.target.policy);
}

/** Decides how the account of a linked user is compared: alone (`suspects`), by its record (`toMap`), or here with its link. */
function sortLinked(
  scan: ScanResult,
  draft: UserScan,
  { holder, link, user }: MappedCase,
  { mapsAll, sorted }: { mapsAll: boolean; sorted: SortedPage },
): void {
  const { policy, mapping } = scan.scope.target;
  const { types } = mapping;
  // These users are read alone: the list does not show whether the account is active, or the link of a person who is no longer
  // protected does not show the desired state.
  if (user.active === undefined || link.condition?.reason === 'Protected') {
    draft.seen.add(holder.ref);
    draft.suspects.set(holder.ref, []);
    return;
  }
  const isUnknown = !link.departed && hasUnknownValue(link, types, (name) => user[EXTENSION]?.[name]);
  // The link does not show the desired state of an account that should be closed and that the policy left open (`leftOpen`), nor
  // of an account whose changes the policy `create-only` leaves.
  const isLeftByPolicy = link.leftOpen ?? (policy.policy === 'create-only' && !link.departed);
  if (mapsAll || holder.marked || isLeftByPolicy || isUnknown) {
    sorted.toMap.push({ holder, link, user });
    return;
  }
  const found = differences(desiredFromLink(link), user, link, types, scan.visibility);
  if (found.length > 0)
    draft.suspects.set(
      holder.ref,
      found.map(({ name }) => name),
    );
  else if (isUnconditional(link)) sorted.equal.push(toPrint(holder, user));
  // Others may have opened the account or given it a value, and the guard may hold the repair. The account equals its link
  // again, so somebody may have made the repair at the platform.
  else if (awaitsDecision(link) && (user.active === false || link.unsure)) draft.suspects.set(holder.ref, []);
  else if (isHeld(link)) sorted.held.push({ holder, link, user });
  // A condition says that the deletion is held, rejected or refused.
  else if (link.departed && !link.condition) sorted.closed.push(holder.ref);
}

/** Returns whether the last sync ended because the guard holds a change, and not with a refusal. */
const isHeld = ({ condition }: Link): boolean =>
  condition?.reason === 'Held' || condition?.reason === 'LastAdministrator';

/**
 * Adds the closed accounts whose deletion is due by now, by other settings or after some days. A closed account equals its link, so
 * no difference shows that the deletion is due.
 */
async function suspectDueDeletions(scan: ScanResult, draft: UserScan, closed: Ref[]): Promise<void> {
  const { drifts, target, clock } = scan.scope;
  const deletedAt = await drifts.deletionTimes(closed.map((ref) => parseRef(ref).id));
  for (const [index, ref] of closed.entries())
    if ((deletionDue(target.policy, deletedAt[index]) ?? Infinity) <= clock.now())
      draft.suspects.set(ref, []);
}

/** Adds accounts that no resource of this connection is linked to: as unmanaged, or as accounts of another connection. */
async function takeStrangers(scan: ScanResult, draft: UserScan, users: WireUser[]): Promise<void> {
  const ids = users.map(({ id }) => id);
  const elsewhere = await Promise.all(scan.scope.others.map((notes) => notes.linkedTo('User', ids)));
  users.forEach((user, index) => {
    // The account is linked by another connection, so it is neither adoptable nor unmanaged.
    if (elsewhere.some((holders) => holders[index] !== undefined)) {
      addAccount(draft.strangers.taken, user);
      return;
    }
    draft.unmanaged.set(user.id, user.userName);
    addAccount(draft.strangers, user);
  });
}
