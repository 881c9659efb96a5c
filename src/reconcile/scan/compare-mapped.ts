// Compares the accounts of one list page with the mapped records of their users (called by compare-user-page.ts). `compareMapped`
// takes users whose link does not show the desired state, such as marked ones, or all after a change of the mapping. It returns
// fingerprints of equal users, and sorts the others into the UserScan (user-scan.ts):
// - `asApplied`: only the link lacks values.
// - `settled`: the source or the settings caused all differences.
// - `suspects`: there is drift, no record, a held or rejected change, or values that the list does not prove. Their accounts are
// then
//   read alone. Differences without drift of such a user go to `besides`.
// `addWaitingValues` takes users who equal their link and have a held change, and adds the values that wait for it to `settled`.
import { hashOfLink, type ObservedResource, type Print } from '../../directory/outbox/drift.ts';
import { isUnconditional, type Link } from '../../directory/outbox/link.ts';
import { refusalOf } from '../../directory/outbox/link-condition.ts';
import type { WireUser } from '../../platform/wire.ts';
import { userAsApplied } from '../compare/as-applied.ts';
import { printOf } from '../compare/compare.ts';
import { isDrift, type PlanEntry } from '../entry.ts';
import { awaitsDecision, doneOfUser } from '../compare/done-changes.ts';
import { userEntries } from '../compare/plan-users.ts';
import type { TargetRules } from '../compare/user-case.ts';
import type { ScanResult } from '../scope.ts';
import { faultEntries, rulesOf } from '../compare/verify-users.ts';
import { addFormer } from '../compare/strangers.ts';
import { isReturning, isUnmappable, usersToVerify, type UserToVerify } from '../compare/desired-users.ts';
import { groupsOfAccount, type VerifiedResource } from '../compare/verified.ts';
import type { UserScan } from './user-scan.ts';

/** A linked user whose record is mapped for the comparison. */
export interface MappedCase {
  /** The linked user, with the text of its link. */
  holder: ObservedResource;
  link: Link;
  /** The account in the list. */
  user: WireUser;
}

/** Returns the fingerprint of an account that is equal to its link or record. */
export const toPrint = ({ ref, text }: ObservedResource, user: WireUser): Print => ({
  ref,
  platformId: user.id,
  link: hashOfLink(text),
  print: printOf(user),
});

/** Compares users by mapping their records. @returns fingerprints of the equal ones */
export async function compareMapped(
  scan: ScanResult,
  draft: UserScan,
  cases: MappedCase[],
): Promise<Print[]> {
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
    // A user without record was deleted at the source, or the record is gone or damaged; the verification decides.
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
      // []: the user stays a suspect whatever the list hides, because a person may have made the held or rejected change by hand.
      draft.suspects.set(ref, awaitsDecision(link) ? [] : namesOfDrift(entries));
      if (withoutDrift.length > 0) draft.besides.set(ref, settled);
    } else if (withoutDrift.length > 0) draft.settled.push(settled);
    else if (!marked && isUnconditional(link)) {
      const applied = userAsApplied(mapped, { user, values: undefined }, rules.types, rules.now);
      if (applied === undefined) equal.push(toPrint(holder, user));
      else if (applied !== 'unproven') draft.asApplied.push(applied);
      else {
        draft.suspects.set(ref, []);
        draft.valued.add(ref);
      }
    }
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

/**
 * Adds to `draft.settled` the pushed values that wait for a held change of the same person. The link does not have these values,
 * because their sync ended without a write.
 */
export async function addWaitingValues(
  scan: ScanResult,
  draft: UserScan,
  cases: MappedCase[],
): Promise<void> {
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

/**
 * Returns the rules with every attribute as visible, because only after the last page it is known which attributes the user list
 * never returns (scan-users.ts).
 */
const rulesOfPage = (scan: ScanResult): TargetRules => ({
  ...rulesOf(scan),
  visibility: { ...scan.visibility, isVisible: () => true },
});
