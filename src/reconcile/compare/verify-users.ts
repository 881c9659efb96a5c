// Verifies suspected drift of users: reads each user alone, and again if the user changed during the read. `verifyUser` compares
// one: it reads the platform (`readAtPlatform`), and converts the differences to plan entries. The link is read before the
// account, so that a write in between is not taken for drift.
import { hashOfLink, type ObservedResource } from '../../directory/outbox/drift.ts';
import { parseLink, type Link } from '../../directory/outbox/link.ts';
import { refusalOf } from '../../directory/outbox/link-condition.ts';
import { parseRef, type Ref } from '../../directory/records.ts';
import type { WireUser } from '../../platform/wire.ts';
import { mapBounded } from '../../support/bounded.ts';
import { correlate } from '../../sync/user/correlate.ts';
import { isMadeAccount } from '../../sync/names/lost-create.ts';
import { existsIn } from '../../sync/user/find-user.ts';
import { isEmpty, mayHaveValue } from '../../sync/diff.ts';
import { mayBeActive } from '../../sync/user/account-state.ts';
import { deletionTime } from '../../sync/user/deletion-due.ts';
import { keptForLeaver } from '../../sync/names/succession.ts';
import { userAsApplied } from './as-applied.ts';
import { awaitsDecision, doneOfUser } from './done-changes.ts';
import { ONLY_TOLD, type PlanEntry } from '../entry.ts';
import { isUnverified, lookAgain, readNoted, toLook, type Look } from './look-again.ts';
import type { ScanResult } from '../scope.ts';
import { takenElsewhereText } from './taken.ts';
import { isAdopted, userEntries } from './plan-users.ts';
import { isProtected, protectionAt } from './protected.ts';
import type { UserCase } from './user-case.ts';
import { groupsOfAccount, type VerifiedResource } from './verified.ts';
import { provenNumber, readAdoptable, readLinkedUser, readValues } from './platform-reads.ts';
import { usersToVerify, isReturning, isUnmappable, type UserToVerify } from './desired-users.ts';
import { takenId, findNamesake } from './namesake.ts';
import type { Strangers } from './strangers.ts';

interface VerifyUsersOptions {
  /** Returns whether the value list of a user is read, which costs one call. */
  withValues: (ref: Ref) => boolean;
  /** Undefined: the list was not read completely, so a namesake is looked up by a call. */
  strangers?: Strangers | undefined;
}

/** Number of users whose records and links are read at once. */
const BATCH = 100;

/** Reads each user alone. A user that cannot be read, or changes at each read, is left out and never counts as absent. */
export const verifyUsers = (
  scan: ScanResult,
  refs: Ref[],
  options: VerifyUsersOptions,
): Promise<VerifiedResource[]> => lookAgain(scan, refs, (left) => lookAtUsers(scan, left, options));

/** Reads the links of each portion before and after its accounts, and sorts the findings by whether a user changed meanwhile. */
async function lookAtUsers(
  scan: ScanResult,
  refs: Ref[],
  options: VerifyUsersOptions,
): Promise<Look<VerifiedResource>> {
  const { drifts, concurrency } = scan.scope;
  const looks: Look<VerifiedResource>[] = [];
  for (let start = 0; start < refs.length; start += BATCH) {
    const before = await drifts.readLinks(refs.slice(start, start + BATCH));
    const wanted = await usersToVerify(scan.scope, before);
    const found = await mapBounded(before, concurrency, (each) =>
      readNoted(scan, each, (own) => verifyUser(own, each, wanted.get(each.ref), options), isUnverified),
    );
    looks.push(toLook(found, before, await drifts.readLinks(before.map(({ ref }) => ref))));
    const done = Math.min(start + BATCH, refs.length);
    scan.onProgress({ phase: 'second look', done, total: refs.length });
  }
  return {
    verified: looks.flatMap(({ verified }) => verified),
    moved: looks.flatMap(({ moved }) => moved),
  };
}

/**
 * Verifies one user, and converts the differences to plan entries (plan-users.ts).
 * @returns undefined when the platform could not be read
 */
async function verifyUser(
  scan: ScanResult,
  { ref, text, marked }: ObservedResource,
  mapped: UserToVerify | undefined,
  options: VerifyUsersOptions,
): Promise<VerifiedResource | undefined> {
  const link = parseLink(text);
  const basis = { version: mapped?.version ?? 0, link: hashOfLink(text) };
  const [deletedAt] = mapped ? [] : await scan.scope.drifts.deletionTimes([parseRef(ref).id]);
  const stored = { ref, link, basis, marked, wanted: mapped?.wanted, deletedAt };
  // A resource without record is either deleted at the source, which a tombstone proves, or its record was lost.
  if (!mapped && !link.departed && deletedAt === undefined) {
    const reason = 'linked, but its desired state is missing in Redis; push it again';
    return { ref, entries: [conflict(stored, reason)] };
  }
  const protection = protectionAt(scan.scope.target);
  const desiredName = mapped?.wanted.core.userName;
  if (isProtected(link, protection, desiredName ? String(desiredName) : undefined))
    return { ref, entries: [] };
  const found = await readAtPlatform(scan, stored, mapped, options);
  // Without a read nothing is known of the account, so the user is left out and counts as unknown.
  if (found === 'unknown') return undefined;
  const { areValuesUnread } = found;
  const { observed, adoptable, values } = found.user;
  const rules = rulesOf(scan);
  // The sync closes an account anew that is open or counts as open, and then a handover is owed from that time on.
  const isClosedNow = observed?.active === true || mayBeActive(link);
  const closedAt = isClosedNow ? rules.now : link.closedAt;
  const { handovers, target } = scan.scope;
  const account = { ref, closedAt, deletedAt };
  const deleteAt = await deletionTime(target.policy, handovers, account, rules.now);
  const user: UserCase = { ...found.user, deleteAt };
  const entries = [...userEntries(user, rules), ...faultEntries(stored, mapped)];
  const applied =
    observed && entries.length === 0
      ? userAsApplied(user, { user: observed, values }, rules.types, rules.now)
      : undefined;
  return {
    ref,
    entries,
    asApplied: applied === 'unproven' ? undefined : applied,
    version: basis.version,
    changedAt: observed?.meta?.lastModified,
    writtenAt: link.writtenAt,
    refusal: refusalOf(link, marked),
    account: observed && { user: observed, values },
    areValuesUnread,
    memberOf: groupsOfAccount(observed ?? adoptable?.account),
    isReturning: isReturning(link, mapped),
    isOut: mapped?.wanted.inScope !== true,
    done: doneOfUser(user),
    isUnmappable: isUnmappable(mapped),
    notAdopted: adoptable && (await whyNotAdopted(scan, stored, adoptable.account)),
  };
}

/** The part of a UserCase that is known before the platform is read. */
type StoredUser = Pick<UserCase, 'ref' | 'link' | 'basis' | 'marked' | 'wanted' | 'deletedAt'>;

/**
 * Reads a user at the platform, in this order: the linked account, or if it is missing the one that has the externalId or the name;
 * the attribute values; the account that may be adopted, with its values; the number of the account.
 * @returns `unknown` when the platform could not be read; `areValuesUnread`: only the values could not be read
 */
async function readAtPlatform(
  scan: ScanResult,
  stored: StoredUser,
  mapped: UserToVerify | undefined,
  { withValues, strangers }: VerifyUsersOptions,
): Promise<{ user: UserCase; areValuesUnread: boolean } | 'unknown'> {
  const { ref, link } = stored;
  const read = await readLinkedUser(scan, link);
  if (read === 'unknown') return 'unknown';
  const observed = read === 'absent' ? undefined : read;
  const namesake = observed || !mapped ? undefined : await findNamesake(scan, mapped.wanted, strangers);
  if (namesake === 'unknown') return 'unknown';

  // The values are also read while the emptying of a value waits for a decision: somebody may have emptied the value at the
  // platform, which only the value list shows.
  const needsValues = withValues(ref) || isEmptyingUndecided(link, mapped);
  const readNumbered = observed && needsValues ? await readValues(scan, link, observed) : undefined;
  // All else is compared without the values: an account that somebody opened again must not stay open because values are unread.
  const areValuesUnread = readNumbered === 'unknown';
  const numbered = readNumbered === 'unknown' ? undefined : readNumbered;
  const values = numbered?.values;

  // The account that the sync would try to adopt, because the user has none; another connection may be linked to it.
  const candidate =
    namesake?.id ?? (observed || !mapped ? undefined : await takenId(scan, mapped.wanted, strangers));
  const takenBy = await takenElsewhereText(scan, 'User', candidate, mapped?.wanted.core);
  const mayAdopt =
    namesake && mapped && takenBy === undefined && isAdopted(namesake, scan.scope.target.policy);
  const adoptable = mayAdopt ? await readAdoptable(scan, namesake, mapped.wanted) : undefined;
  if (adoptable === 'unknown') return 'unknown';

  const user: UserCase = { ...stored, observed, namesake, takenBy, adoptable, values };
  const proven = numbered ? { number: numbered.account } : await currentNumberOf(scan, user);
  if (proven === 'unknown') return 'unknown';
  const isOutdated =
    link.account !== undefined && proven.number !== undefined && proven.number !== link.account;
  return { user: isOutdated ? { ...user, otherNumber: proven.number } : user, areValuesUnread };
}

/**
 * Returns the numeric id that the account has by the user list. The list is asked only if a value differs and the link has such an
 * id: if the stored id is wrong, the values were written to the account of another person.
 */
async function currentNumberOf(scan: ScanResult, user: UserCase): ReturnType<typeof provenNumber> {
  const { link, observed } = user;
  if (!observed || link.account === undefined) return { number: undefined };
  const differs = userEntries(user, rulesOf(scan)).some(({ attribute }) => attribute !== undefined);
  return differs ? provenNumber(scan, link.account, observed) : { number: undefined };
}

/** Returns whether the emptying of a value waits for a decision, so that a person may have emptied it at the platform. */
const isEmptyingUndecided = (link: Link, user: UserToVerify | undefined): boolean =>
  awaitsDecision(link) &&
  Object.entries(user?.wanted.attributes ?? {}).some(
    ([name, value]) => isEmpty(value) && mayHaveValue(link, name),
  );

/** Returns why the sync will not adopt the account, judged as the sync does (find-user.ts); undefined: it will. */
async function whyNotAdopted(
  { scope: { directory, links, outbox, target } }: ScanResult,
  { ref, link, wanted }: Pick<UserCase, 'ref' | 'link' | 'wanted'>,
  account: WireUser,
): Promise<string | undefined> {
  const holder = await links.holderOf(target.name, 'User', account.id);
  const isTakenOver = holder !== undefined && holder !== ref;
  const holderExists = isTakenOver && (await existsIn(directory)(holder));
  const ours = holder === undefined ? await isMadeAccount({ directory, link }, account) : !holderExists;
  const externalId = wanted?.core.externalId == null ? null : String(wanted.core.externalId);
  const desired = { userName: String(wanted?.core.userName), externalId };
  const verdict = correlate(desired, [{ user: account, ours }], target.policy.adopt);
  if (verdict.kind === 'conflict') return verdict.message;
  const isRehired = externalId !== null && account.externalId === externalId;
  return isTakenOver && !isRehired ? keptForLeaver({ outbox }, holder) : undefined;
}

/** Returns the rules of the target for `userEntries`. */
export const rulesOf = ({ scope: { clock, target }, visibility }: ScanResult) => ({
  policy: target.policy,
  types: target.mapping.types,
  visibility,
  now: clock.now(),
});

/** Returns conflict entries for attributes whose mapping fails. */
export const faultEntries = (user: ConflictCase, mapped: UserToVerify | undefined): PlanEntry[] =>
  isUnmappable(mapped)
    ? [
        {
          ...conflict(user, `attribute ${mapped.faults.join('; ')}`),
          name: String(mapped.wanted.core.userName),
        },
      ]
    : [];

/** The part of a user that a conflict entry shows. */
type ConflictCase = Pick<UserCase, 'ref' | 'link' | 'basis'>;

/** Returns a conflict entry, which needs an operator. */
export const conflict = ({ ref, link, basis }: ConflictCase, reason: string): PlanEntry => ({
  ...ONLY_TOLD,
  action: 'conflict',
  kind: 'User',
  ref,
  platformId: link.id ?? null,
  name: String(link.core?.userName ?? ''),
  reason,
  basis,
});
