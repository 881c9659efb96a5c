// Compares one resource with the platform for an explanation: reads it (`lookAtPlatform`), and sorts the entries that a plan would
// have (`sortEntries`): differences, memberships that others added, differences that the policy of the target does not write, and
// changes that somebody has already made at the platform.
import type { Ref } from '../directory/records.ts';
import { isStoreFailure } from '../directory/redis/why-away.ts';
import { LEFT_OUT } from '../reconcile/compare/membership-entries.ts';
import { compareOne } from '../reconcile/plan/compare-one.ts';
import { countDecidable } from '../reconcile/compare/done-changes.ts';
import { withNames } from '../reconcile/compare/entry-names.ts';
import { isAsDesired, isLeftBy, type PlanEntry } from '../reconcile/entry.ts';
import { createNarrowScan } from '../reconcile/plan/narrow-scan.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import { withUnreadyMembersReported } from '../reconcile/unwritten/unready-members.ts';
import { isToBeHeld, withToBeHeld } from '../reconcile/unwritten/to-be-held.ts';
import { withoutUnwritten } from '../reconcile/unwritten/unwritten.ts';
import { asking } from '../reconcile/compare/platform-reads.ts';
import { isFoundInTurn } from '../reconcile/compare/verify-values.ts';
import { defaultTexts } from '../sync/mapping/default-value.ts';
import { removedUser } from '../directory/member-names.ts';
import { differenceTest } from './difference-test.ts';
import type { AttributeState, Explanation } from './explanation.ts';
import {
  hasAccount,
  isUnlikeObserved,
  unsetTest,
  withObserved,
  withObservedName,
} from './observed-values.ts';
import { isoTime } from '../support/sources.ts';
import { timeLimit } from '../support/time-limit.ts';

/** Time for all reads of one resource, milliseconds. */
const READ_TIMEOUT_MS = 3000;

/** Largest number of members of a group that are compared; a call returns 100 of them. */
const COMPARED_MEMBERS = 1000;

/**
 * Limits of the calls for a look at one group. `mostDone`: members whose account is read, by one call each, to see whether their
 * held or rejected removal is made already. `mostGone`: members whose account is gone and who are compared, by several calls each.
 */
const LOOKED_UP = { mostDone: 100, mostGone: 20 };

interface PlatformLook {
  /** Result of the read, as part of the explanation. */
  platform: NonNullable<Explanation['platform']>;
  /** The given values with `observed` set; unchanged if the platform could not be read. */
  values: AttributeState[];
  /**
   * Pending, held and rejected changes of memberships that the platform has already: for a person the groups, for a group the
   * members. For a person also groups with the desired name at the platform and another name in the link.
   */
  pendingDone: readonly Ref[];
  /**
   * Memberships that the platform lacks and that the policy leaves out: of a person the groups, of a group the members. Undefined:
   * not compared.
   */
  additionsLeftByPolicy: readonly Ref[] | undefined;
  /**
   * Whether nothing that was compared differs, except memberships that the bridge does not manage. A difference that no run writes
   * counts too. Members of a group with more than COMPARED_MEMBERS, and the values of a protected account, are not compared.
   */
  isAsDesired: boolean;
}

/**
 * Compares the resource with the platform within READ_TIMEOUT_MS.
 * @param known.members number of desired members of a group
 * @param known.values desired and applied values
 * @throws errors that are no failure of the platform
 */
export async function lookAtPlatform(
  scope: ReconcileScope,
  ref: Ref,
  { members, values }: { members: number; values: AttributeState[] },
): Promise<PlatformLook> {
  const { clock } = scope;
  const isPerson = ref.startsWith('User:');
  const at = isoTime(clock.now());
  let why: string | null = null;
  const noteFailure = (failure: string): void => {
    why = failure;
  };
  const unread = (): PlatformLook => unreadLook(values, { at, why });
  // At another tenant the id of the link may lead to another account.
  if (await scope.outbox.whyUnrecognised()) return unread();
  // An open breaker delays the first call until a probe is due, within the same time limit.
  const signal = timeLimit(READ_TIMEOUT_MS);
  try {
    const [compared, definitions] = await Promise.all([
      compareOne(scope, ref, {
        signal,
        members: members <= COMPARED_MEMBERS,
        ...LOOKED_UP,
        noteFailure,
      }),
      // Only people have attribute values, so for a group the definitions count as not read.
      isPerson
        ? asking(createNarrowScan(scope, signal), () => scope.target.client.attributes.list({ signal }))
        : 'unknown',
    ]);
    // Null: the platform could not be read, or the resource changed during each read.
    if (compared === null) return unread();
    const read = { compared, definitions: Array.isArray(definitions) ? definitions : undefined };
    const look = await sortEntries(scope, ref, read, { members, values });
    return look ? { ...look, platform: { at, why: null, ...look.platform } } : unread();
  } catch (error) {
    // Each call takes from the request budget in Redis. If Redis fails (`isStoreFailure`) or time is up, the stored state is shown.
    if (!signal.aborted && !isStoreFailure(error)) throw error;
    return unread();
  }
}

/** The results of the reads of a resource. */
interface Read {
  compared: NonNullable<Awaited<ReturnType<typeof compareOne>>>;
  /** Definitions of the attributes; undefined: not read. */
  definitions: Parameters<typeof defaultTexts>[0] | undefined;
}

type LookedAt = PlatformLook['platform'];

/** A look without the time and the failure of the read, which `lookAtPlatform` adds. */
type Sorted = Omit<PlatformLook, 'platform'> & { platform: Omit<LookedAt, 'at' | 'why'> };

/** Sorts the plan entries of a resource; undefined: no difference was found, and values could not be read. */
async function sortEntries(
  scope: ReconcileScope,
  ref: Ref,
  { compared, definitions }: Read,
  { members, values }: { members: number; values: AttributeState[] },
): Promise<Sorted | undefined> {
  const { account, done, groupsLeftAlone, notCompared = 0 } = compared;
  const { mapping, policy } = scope.target;
  const isPerson = ref.startsWith('User:');
  // Entries of held and rejected changes, and of memberships that wait, become entries that are shown and not written (`report`):
  // other parts of the explanation name them.
  const named = await withNames(scope, await withoutUnwritten(scope, compared.entries));
  const entries = isPerson ? named : await withUnreadyMembersReported(scope, named);
  // `done`: held or rejected changes that somebody has already made at the platform.
  const counts = done ? await countDecidable(scope.outbox, [done]) : undefined;
  const { held, rejected } = counts?.get(ref) ?? { held: 0, rejected: 0 };
  const removedMembers = (done?.items ?? []).flatMap((item) => removedUser(item) ?? []);
  const differing = entries.filter(differenceTest(ref, compared.isGone === true));
  if (compared.areValuesUnread && differing.length === 0) return undefined;
  const ofResource = entries.filter((entry) => entry.ref === ref);
  const observed = isPerson ? withObserved(values, account, mapping) : withObservedName(values, ofResource);
  // Only for a protected account `groupsLeftAlone` is set. No run changes the account, so it has no entries, and its values are
  // compared here.
  const isProtectedUnlike = groupsLeftAlone !== undefined && observed.some(isUnlikeObserved);
  const leftEntries = entries.filter((entry) => isLeftBy(policy, entry));
  return {
    platform: {
      state: differing.length > 0 || isProtectedUnlike ? 'differs' : 'equal',
      differences: differing.map((entry) => toDifference(entry, isPerson)),
      ...stayingMemberships(entries, leftEntries, { isPerson, groupsLeftAlone }),
      leftDifferences: leftEntries.length,
      // The explanation does without definitions that could not be read.
      defaults:
        definitions && hasAccount(ofResource)
          ? defaultTexts(definitions, unsetTest(scope, ofResource, observed))
          : [],
      done: held + rejected,
      toBeHeld: (await withToBeHeld(scope, differing)).filter(isToBeHeld).length,
      readInTurn: isPerson && (await isFoundInTurn(scope, differing)),
      notCompared,
      accountGone: compared.isGone ?? false,
    },
    values: observed,
    pendingDone: [...(compared.pendingDone ?? []), ...(compared.asNamed ?? []), ...removedMembers],
    additionsLeftByPolicy:
      members > COMPARED_MEMBERS
        ? undefined
        : leftEntries
            .filter(({ action }) => action === 'addMember')
            .flatMap(({ ref: group, member }) => (isPerson ? group : member?.ref) ?? []),
    isAsDesired: notCompared === 0 && isAsDesired(entries),
  };
}

/** Returns a plan entry as the explanation shows it. */
function toDifference(entry: PlanEntry, isPerson: boolean): LookedAt['differences'][number] {
  const { action, attribute, reason, before, after } = entry;
  return { action, subject: attribute ?? otherSide(entry, isPerson) ?? null, reason, before, after };
}

/**
 * Returns the names of the memberships at the platform that no run removes, by cause. `addedByOthers`: this connection does not
 * manage them, or the person is protected (`groupsLeftAlone`). `leftOutGroups`: the settings exclude the group (LEFT_OUT).
 * `leftByPolicy`: the policy of the target leaves them.
 * @param leftEntries entries that the policy leaves
 */
function stayingMemberships(
  entries: readonly PlanEntry[],
  leftEntries: readonly PlanEntry[],
  {
    isPerson,
    groupsLeftAlone,
  }: { isPerson: boolean; groupsLeftAlone: Read['compared']['groupsLeftAlone'] | undefined },
): Pick<LookedAt, 'addedByOthers' | 'leftOutGroups' | 'leftByPolicy'> {
  const namesOf = (chosen: readonly PlanEntry[]): string[] =>
    chosen.map((entry) => otherSide(entry, isPerson) ?? '');
  const unmanaged = entries.filter(({ action, member }) => action === 'unmanaged' && member);
  return {
    addedByOthers:
      groupsLeftAlone?.map(({ name }) => name) ??
      namesOf(unmanaged.filter(({ reason }) => reason !== LEFT_OUT)),
    leftOutGroups: namesOf(unmanaged.filter(({ reason }) => reason === LEFT_OUT)),
    leftByPolicy: namesOf(leftEntries.filter(({ action }) => action === 'removeMember')),
  };
}

/**
 * Returns the name of the other side of a membership: for a person the group (also in an entry that creates it again), for a group
 * the member, by platform id if the name is missing.
 */
const otherSide = ({ kind, name, member }: PlanEntry, isPerson: boolean): string | undefined =>
  kind === (isPerson ? 'Group' : 'User') ? name : member?.name || (member?.platformId ?? undefined);

/** Returns the look at a platform that could not be read. @param why failure of the last failed read; null: no read failed */
const unreadLook = (
  values: AttributeState[],
  { at, why }: { at: string; why: string | null },
): PlatformLook => ({
  platform: {
    at,
    state: 'unread',
    why,
    differences: [],
    addedByOthers: [],
    leftOutGroups: [],
    leftByPolicy: [],
    leftDifferences: 0,
    defaults: [],
    done: 0,
    toBeHeld: 0,
    readInTurn: false,
    notCompared: 0,
    accountGone: false,
  },
  values,
  pendingDone: [],
  additionsLeftByPolicy: undefined,
  isAsDesired: false,
});
