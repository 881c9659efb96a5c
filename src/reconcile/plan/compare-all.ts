// Compares all users and groups of one connection with one target: scans the lists of the platform, and verifies each resource that
// may differ.
import { isRepaired } from '../../directory/outbox/mapped-by.ts';
import type { Ref } from '../../directory/records.ts';
import { readInPortions } from '../../directory/redis/portions.ts';
import { countUnverified } from '../compare/look-again.ts';
import { learnKeyOwner } from '../compare/protected.ts';
import { verifyGroups } from '../compare/verify-groups.ts';
import { verifyUsers } from '../compare/verify-users.ts';
import { verifyValues, type ValueLook } from '../compare/verify-values.ts';
import type { VerifiedResource } from '../compare/verified.ts';
import type { ReadTrail } from '../scan/audit-trail.ts';
import type { UserScan } from '../scan/user-scan.ts';
import { readOrphans, type Orphans } from '../scan/cover.ts';
import { createRepeater } from '../scan/repeat-after-429.ts';
import { scanGroups, type GroupChoice, type GroupScan } from '../scan/scan-groups.ts';
import { scanUsers } from '../scan/scan-users.ts';
import type { Progress, ReconcileScope, ScanResult } from '../scope.ts';
import { createNarrowScan } from './narrow-scan.ts';

/**
 * Largest number of users with which a run that is not full reads the whole user list. The list then takes no more calls than a
 * search for each of the users whose values the run reads (VALUES_IN_TURN in verify-values.ts).
 */
const MOST_LISTED = 5000;
/** Number of users that are verified with one read of their links. */
const VERIFIED_AT_ONCE = 500;

export interface PlanOptions {
  /** Reads the members of all groups and the attribute values of all users. */
  full?: boolean;
  /** Maps every user even if the mapping rules did not change. */
  mapsAll?: boolean;
  signal: AbortSignal;
  onProgress?: (progress: Progress) => void;
  readTrail?: ReadTrail | undefined;
  /** Stores fingerprints of equal accounts; undefined: nothing is written. */
  remember?: ScanResult['remember'];
  /** Id of the plan (`Plan.id`). */
  id: string;
}

/** A comparison that has begun. For users, `mapsAll` (GroupChoice) means that all are mapped, `full` that all values are read. */
export interface ComparisonRun extends GroupChoice {
  scan: ScanResult;
  /** Digest of the mapping rules by which all users were mapped last; undefined: never. */
  mappedBy: string | undefined;
  rulesChanged: boolean;
  /** Whether all processes that run have these rules. */
  rulesAgree: boolean;
}

/** The lists of the platform, compared with the links. */
export type Lists = Awaited<ReturnType<typeof scanLists>>;

/** Prepares the comparison, and decides whether all users are mapped and all members and values are read. */
export async function beginScan(scope: ReconcileScope, options: PlanOptions): Promise<ComparisonRun> {
  // Marks the unmarked members of renamed groups; without a mark they would count as synced with the new name.
  await scope.directory.markRenamed();
  await learnKeyOwner(scope, options.signal);
  const [mappedBy, hasMoved, rulesAgree] = await Promise.all([
    scope.runs.mappedBy(),
    scope.outbox.hasMoved(),
    scope.rulesAgree(),
  ]);
  const rulesChanged = mappedBy !== scope.digest;
  const mapsAll = (options.mapsAll ?? false) || rulesChanged;
  if (mapsAll) await scope.coverage.readAllAnew();
  const full = (options.full ?? false) || isRepaired(mappedBy);
  // Values are read by the number of the account: of some users in each run, of all users in a full run.
  const isListCheap = full || (await scope.directory.count('User')) <= MOST_LISTED;
  const narrow = createNarrowScan(scope, options.signal, {
    repeatAfter429: createRepeater(scope, options.signal),
  });
  const scan: ScanResult = {
    ...narrow,
    onProgress: options.onProgress ?? narrow.onProgress,
    isRepaired: isRepaired(mappedBy),
    hasMoved,
    findConsoleAccounts: isListCheap ? narrow.findListedAccounts : narrow.findConsoleAccounts,
    remember: options.remember ?? narrow.remember,
  };
  return { scan, mappedBy, rulesChanged, rulesAgree, mapsAll, full };
}

/** Scans users and groups in parallel, and verifies the groups that may differ. */
export async function scanLists({ scan, mapsAll, full }: ComparisonRun) {
  const orphans = await readOrphans(scan);
  const userWork = scanUsers(scan, mapsAll, orphans.User);
  scan.unmanagedAccounts = userWork.then(
    ({ unmanaged }) => unmanaged,
    () => new Map<string, string>(),
  );
  scan.isUnlisted = async (platformId) => {
    const { proof, isListed } = await userWork;
    return proof.complete && !isListed(platformId);
  };
  const groupWork = lookAtGroups(scan, { mapsAll, full }, orphans.Group);
  groupWork.catch(() => undefined); // awaited below
  const users = await userWork;
  const { groups, verified } = await groupWork;
  return { users, groups, verifiedGroups: verified };
}

/**
 * Reads the attribute values, and verifies the users that may differ.
 * @returns `seen`: the last result of each verified user and group
 */
export async function verifyRest(
  { scan, full }: ComparisonRun,
  { users, verifiedGroups }: Lists,
): Promise<{ values: ValueLook; seen: VerifiedResource[] }> {
  const values = await verifyValues(scan, full);
  // []: verifySuspects reads all values of these users.
  for (const ref of values.suspects) users.suspects.set(ref, []);
  const alone = await verifySuspects(scan, users, values.suspects);
  values.failed += countUnverified(values.suspects, alone);
  return { values, seen: [...oncePerUser([...users.settled, ...alone]), ...verifiedGroups] };
}

/** Scans the list of groups, and verifies each group that may differ. */
async function lookAtGroups(
  scan: ScanResult,
  choice: GroupChoice,
  orphans: Orphans,
): Promise<{ groups: GroupScan; verified: VerifiedResource[] }> {
  const groups = await scanGroups(scan, choice, orphans);
  const verified = await verifyGroups(scan, [...groups.suspects], {
    withMembers: (ref) => groups.withMembers.has(ref),
    ...(groups.proof.complete ? { strangers: groups } : {}),
  });
  return { groups, verified };
}

/**
 * Verifies the users that differ in the list or were not compared with it.
 * @param withValues users whose attribute values are read too
 */
async function verifySuspects(
  scan: ScanResult,
  users: UserScan,
  withValues: Set<Ref>,
): Promise<VerifiedResource[]> {
  const options = {
    withValues: (ref: Ref) => withValues.has(ref) || users.valued.has(ref),
    ...(users.proof.complete ? { strangers: users.strangers } : {}),
  };
  const refs = [...users.suspects.keys(), ...users.unseen];
  return readInPortions(refs, VERIFIED_AT_ONCE, (portion) => verifyUsers(scan, portion, options));
}

/**
 * Returns the last result of each user: the list may have settled a user who was then verified alone, with all values, because a
 * value that no list shows differs too or because a mark came meanwhile.
 */
const oncePerUser = (found: readonly VerifiedResource[]): VerifiedResource[] => [
  ...new Map(found.map((each) => [each.ref, each])).values(),
];
