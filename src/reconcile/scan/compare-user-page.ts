// Compares one page of the platform's user list with the links, or with mapped records, and sorts its accounts into a UserScan.
import { noCoverage } from '../../directory/outbox/coverage.ts';
import { hashOfLink, type ObservedResource, type Print } from '../../directory/outbox/drift.ts';
import { isNeverRenamed, parseLink, type Link } from '../../directory/outbox/link.ts';
import { refusalOf } from '../../directory/outbox/link-condition.ts';
import { parseRef, type Ref } from '../../directory/records.ts';
import type { WireUser } from '../../platform/wire.ts';
import { EXTENSION } from '../../sync/diff.ts';
import { isAccountOf } from '../../sync/calls/recognise.ts';
import { desiredFromLink, differences, hasUnknownValue, printOf } from '../compare/compare.ts';
import type { Cover } from './cover.ts';
import { isDrift, type PlanEntry } from '../entry.ts';
import { deletionDue } from '../../sync/user/deletion-due.ts';
import { awaitsDecision, doneOfUser } from '../compare/done-changes.ts';
import type { ProofKeeper } from './list-proof.ts';
import { userEntries } from '../compare/plan-users.ts';
import { isProtected, protectionAt } from '../compare/protected.ts';
import type { TargetRules } from '../compare/user-case.ts';
import type { ScanResult } from '../scope.ts';
import { faultEntries, rulesOf } from '../compare/verify-users.ts';
import { noteShown } from '../compare/shown-attributes.ts';
import { addAccount, addFormer, noAccounts } from '../compare/strangers.ts';
import { isReturning, isUnmappable, usersToVerify, type UserToVerify } from '../compare/desired-users.ts';
import { groupsOfAccount, type VerifiedResource } from '../compare/verified.ts';

export type UserScan = ReturnType<typeof createUserScan>;

/** Returns the findings before the list is read. @param covering reads stored records in parallel to the list */
export const createUserScan = (
  reader: ProofKeeper<WireUser>,
  hasMoved: boolean,
  covering: Promise<Cover>,
) => ({
  proof: reader.verdict(),
  coverage: noCoverage(),
  covering,
  /** Number of listed accounts whose link is not departed and has no mark and no condition. */
  matched: 0,
  /** Counts by which tenant.ts recognises the tenant. */
  recognition: { linked: 0, same: 0, other: 0, strangers: 0, namesakes: 0, hasMoved },
  /** Users to verify one by one, because they differ or were not shown; with the names of the differing values, [] if not known. */
  suspects: new Map<Ref, string[]>(),
  /** Suspects whose attribute values are read by a further call, because all values of an attribute seem to be lost (findLost). */
  valued: new Set<Ref>(),
  /** Pending changes and changes of the mapping, which need no verification. */
  settled: [] as VerifiedResource[],
  /**
   * Pending changes and changes of the mapping of suspects. They join `settled` if all other differences of the suspect are of
   * values that the user list never returns.
   */
  besides: new Map<Ref, VerifiedResource>(),
  /** Users that were compared by mapping their records. */
  seen: new Set<Ref>(),
  /** Marked, lost or newly mapped users that were not compared with a listed account. */
  unseen: new Set<Ref>(),
  /**
   * Listed accounts whose name a user without account may want: unmanaged ones, and those of users who left (`former`) and of other
   * connections (`taken`).
   */
  strangers: { ...noAccounts(), former: noAccounts(), taken: noAccounts() },
  /** The unmanaged accounts of `strangers`, as platform id to userName. */
  unmanaged: new Map<string, string>(),
  /** Returns whether the list showed the account. */
  isListed: (platformId: string): boolean => reader.has(platformId),
});

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
  const equal: Print[] = [];
  /** Users whose record is mapped, because the link does not show the desired state. */
  const toMap: MappedCase[] = [];
  /** Users who equal their link, and of whom the guard holds a change. */
  const held: MappedCase[] = [];
  /** Leavers whose account is closed. */
  const closed: Ref[] = [];
  const unlinked: WireUser[] = [];
  const { types } = scan.scope.target.mapping;
  const protection = protectionAt(scan.scope.target);
  users.forEach((user, index) => {
    const holder = holders[index];
    const link = holder && parseLink(holder.text);
    // The reverse link may be out of date; then no resource is linked to this account.
    if (!holder || link?.id !== user.id) {
      unlinked.push(user);
      return;
    }
    if (!holder.marked && isUnconditional(link)) draft.matched++;
    // A link that a repair restored contains only the id.
    if (link.core?.userName !== undefined) draft.recognition[isAccountOf(link, user) ? 'same' : 'other']++;
    if (isNeverRenamed(link) && !holder.marked)
      addFormer(draft.strangers.former, user, holder, scan.scope.target.policy);
    if (isProtected(link, protection)) return;
    // The list does not show whether the account is active, which its single read may. The link of a person who is protected no
    // more does not show the desired state.
    if (user.active === undefined || link.condition?.reason === 'Protected') {
      draft.seen.add(holder.ref);
      draft.suspects.set(holder.ref, []);
      return;
    }
    const isUnknown = !link.departed && hasUnknownValue(link, types, (name) => user[EXTENSION]?.[name]);
    // The link does not show the desired state of an account that should be closed and that the policy left open (`leftOpen`), nor
    // of an account whose changes the policy `create-only` leaves.
    const isLeftByPolicy = link.leftOpen ?? (isCreateOnly && !link.departed);
    if (mapsAll || holder.marked || isLeftByPolicy || isUnknown) toMap.push({ holder, link, user });
    else {
      const found = differences(desiredFromLink(link), user, link, types, scan.visibility);
      if (found.length > 0)
        draft.suspects.set(
          holder.ref,
          found.map(({ name }) => name),
        );
      else if (isUnconditional(link)) equal.push(toPrint(holder, user));
      // Others may have opened the account or given it a value, and the guard may hold the repair. The account equals its link
      // again, so somebody may have made the repair at the platform.
      else if (awaitsDecision(link) && (user.active === false || link.unsure))
        draft.suspects.set(holder.ref, []);
      else if (isHeld(link)) held.push({ holder, link, user });
      // A condition says that the deletion is held, rejected or refused.
      else if (link.departed && !link.condition) closed.push(holder.ref);
    }
  });
  // A closed account equals its link, so no difference shows that its deletion is due by now, by other settings or after some days.
  const deletedAt = await scan.scope.drifts.deletionTimes(closed.map((ref) => parseRef(ref).id));
  for (const [index, ref] of closed.entries())
    if ((deletionDue(scan.scope.target.policy, deletedAt[index]) ?? Infinity) <= scan.scope.clock.now())
      draft.suspects.set(ref, []);
  if (held.length > 0) await addWaitingValues(scan, draft, held);
  if (toMap.length > 0) equal.push(...(await mapAll(scan, draft, toMap)));
  await scan.remember(equal);
  if (unlinked.length > 0) await takeStrangers(scan, draft, unlinked);
}

/** Returns whether a link is neither departed nor has a condition; only such links are counted as matched. */
export const isUnconditional = ({ departed, condition }: Link): boolean =>
  !departed && condition === undefined;

const toPrint = ({ ref, text }: ObservedResource, user: WireUser): Print => ({
  ref,
  platformId: user.id,
  link: hashOfLink(text),
  print: printOf(user),
});

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

/** Returns whether the last sync ended because the guard holds a change, and not with a refusal. */
const isHeld = ({ condition }: Link): boolean =>
  condition?.reason === 'Held' || condition?.reason === 'LastAdministrator';

/** A linked user whose record is mapped for the comparison. */
interface MappedCase {
  holder: ObservedResource;
  link: Link;
  user: WireUser;
}

/**
 * Returns the rules with every attribute as visible, because only after the last page it is known which attributes the user list
 * never returns (scan-users.ts).
 */
const rulesOfPage = (scan: ScanResult): TargetRules => ({
  ...rulesOf(scan),
  visibility: { ...scan.visibility, isVisible: () => true },
});

/**
 * Adds the pushed values that wait for a held change of the same person. The link does not have them, because their sync ended
 * without a write.
 */
async function addWaitingValues(scan: ScanResult, draft: UserScan, cases: MappedCase[]): Promise<void> {
  const wanted = await usersToVerify(
    scan.scope,
    cases.map(({ holder }) => holder),
  );
  for (const { holder, link, user } of cases) {
    const { ref, text, marked } = holder;
    const known = wanted.get(ref);
    if (!known?.wanted.inScope) continue;
    const basis = { version: known.version, link: hashOfLink(text) };
    const mapped = { ref, link, basis, marked, wanted: known.wanted, observed: user };
    const entries = userEntries(mapped, rulesOfPage(scan)).filter((entry) => !isDrift(entry));
    if (entries.some(({ attribute }) => attribute !== undefined)) draft.settled.push({ ref, entries });
  }
}

/** Compares users by mapping their records. @returns fingerprints of the equal ones */
async function mapAll(scan: ScanResult, draft: UserScan, cases: MappedCase[]): Promise<Print[]> {
  const equal: Print[] = [];
  const wanted = await usersToVerify(
    scan.scope,
    cases.map(({ holder }) => holder),
  );
  const rules = rulesOfPage(scan);
  for (const { holder, link, user } of cases) {
    const { ref, text, marked } = holder;
    draft.seen.add(ref);
    const known: UserToVerify | undefined = wanted.get(ref);
    // A user without record was deleted at the source or is lost; the verification decides.
    if (!known) {
      addFormer(draft.strangers.former, user, holder, rules.policy);
      draft.suspects.set(ref, []);
      continue;
    }
    const basis = { version: known.version, link: hashOfLink(text) };
    const common = { ref, link, basis };
    const mapped = { ...common, marked, wanted: known.wanted, observed: user };
    const entries: PlanEntry[] = [...userEntries(mapped, rules), ...faultEntries(common, known)];
    const withoutDrift = entries.filter((entry) => !isDrift(entry));
    const settled: VerifiedResource = {
      ref,
      entries: withoutDrift,
      refusal: refusalOf(link, marked),
      memberOf: groupsOfAccount(user),
      isReturning: isReturning(link, known),
      isUnmappable: isUnmappable(known),
      isOut: !known.wanted.inScope,
      done: doneOfUser(mapped),
    };
    if (withoutDrift.length < entries.length) {
      draft.suspects.set(ref, awaitsDecision(link) ? [] : namesOfDrift(entries));
      if (withoutDrift.length > 0) draft.besides.set(ref, settled);
    } else if (withoutDrift.length > 0) draft.settled.push(settled);
    else if (!marked && isUnconditional(link)) equal.push(toPrint(holder, user));
    // A person may already have made the held or rejected change at the platform; the verification finds out.
    else if (awaitsDecision(link)) draft.suspects.set(ref, []);
  }
  return equal;
}

/** Returns the names of the values that drift; empty if an entry is about more than values. */
function namesOfDrift(entries: readonly PlanEntry[]): string[] {
  const names: string[] = [];
  for (const entry of entries) {
    if (!isDrift(entry)) continue;
    if (entry.attribute !== undefined) names.push(`attributes.${entry.attribute}`);
    else if (entry.action === 'update') names.push(...Object.keys(entry.after ?? {}));
    else return [];
  }
  return names;
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
