// Adds the entries that the sync of another resource writes too (followers): the memberships of a created, adopted, relinked or
// returning user or group, and the attribute definitions that the sync of a user creates. Leaves out, or only reports, the
// changes that a sync will not make because of the state of the user.
import type { Ref } from '../../directory/records.ts';
import { inPortions } from '../../directory/redis/portions.ts';
import { isChange, isPending, NEWLY_LINKED, type PlanEntry, reportedAs } from '../entry.ts';
import {
  definitionEntries,
  goneWithDefinition,
  toDefinitionConflict,
  toTypeConflict,
  type DefinitionFindings,
  type DefinitionReads,
} from '../compare/definitions.ts';
import type { ScanResult } from '../scope.ts';
import { isLostValue, reportUnmappable, usersWithTypeConflict } from '../unwritten/unmappable.ts';
import type { VerifiedResource } from '../compare/verified.ts';
import {
  followersOfGroup,
  followersOfUsers,
  membershipKey,
  platformIdAfter,
  toFollower,
  type Following,
} from './follower-memberships.ts';
import { WAITS_FOR_USER } from '../compare/group-case.ts';

/** Number of users whose groups are read at once. */
const PORTION = 200;

/**
 * Returns the entries together with their followers. A follower needs no sync of its own: the sync of another resource, named in
 * its field `follows`, writes it too. Example: the creation of Ann's account adds her to her groups, so a run marks Ann, and not
 * the groups. The steps, each on the result of the former:
 * 1. Changes that a sync will not make are left out or become conflicts, so that they have neither definitions nor followers.
 * 2. Definitions of attributes are added, for the values that are left. A value whose definition has another type is a conflict.
 * 3. The followers of the changes are added.
 * 4. Additions to groups, also those of step 3, are left out or only reported where the user is out of scope or waits for a value.
 * @param reads whether definitions are always read, and how a definition of another type is reported
 */
export async function withFollowers(
  scan: ScanResult,
  entries: PlanEntry[],
  verified: readonly VerifiedResource[],
  reads: DefinitionReads = {},
): Promise<PlanEntry[]> {
  const written = withoutRefusedAdoptions(withoutGoneMembers(entries, verified), verified);
  const definitions = await definitionEntries(scan, written, reads);
  // Users whose last sync could not write a value; the next one tries all values that differ.
  const refused = verified.filter(({ refusal }) => refusal?.reason === 'AttributesNotWritten');
  // Users whose activation and memberships wait for a value.
  const waiting = new Set([
    ...verified.flatMap(({ ref, isUnmappable }) => (isUnmappable ? [ref] : [])),
    ...usersWithTypeConflict(written, definitions.conflicts, new Set(refused.map(({ ref }) => ref))),
  ]);
  const withConflicts = written.map((entry) => toTypeConflict(entry, definitions.conflicts, waiting));
  const all = await withAllFollowers(scan, withConflicts, verified, { ...definitions, ...reads, written });
  // Users of whom an applied value is lost at the platform and cannot be written again.
  const lost = new Set(withConflicts.filter(isLostValue).map(({ ref }) => ref));
  return reportUnmappable(withoutAddedLeavers(all, verified), waiting, scan.scope.target.policy, lost);
}

/** Returns the entries with the definitions and memberships that follow from them (steps 2 and 3). */
async function withAllFollowers(
  scan: ScanResult,
  entries: PlanEntry[],
  verified: readonly VerifiedResource[],
  {
    definitions: missing,
    conflicts,
    isConflictPerAttribute = false,
    written,
  }: DefinitionFindings & DefinitionReads & { written: readonly PlanEntry[] },
): Promise<PlanEntry[]> {
  const known = goneWithDefinition(entries, missing);
  const isOfAttribute = ({ action, attribute }: PlanEntry): boolean =>
    action === 'conflict' && attribute !== undefined;
  // One conflict of each attribute, in `ofDefinitions`, stands for those of all users.
  const found = isConflictPerAttribute ? known.filter((entry) => !isOfAttribute(entry)) : known;
  const ofDefinitions = [
    ...missing,
    ...(isConflictPerAttribute ? [...conflicts].map((each) => toDefinitionConflict(each, written)) : []),
  ];
  // The changes that have followers: those that link a resource newly, by ref, and one of each user who comes back into scope.
  const parents = new Map<Ref, PlanEntry>();
  for (const entry of found)
    if (isChange(entry) && NEWLY_LINKED.has(entry.action) && entry.ref) parents.set(entry.ref, entry);
  const returning = returningUsers(found, verified);
  if (parents.size + returning.length === 0) return [...ofDefinitions, ...found];
  // An entry about a membership of a newly linked user names the former account; the follower that is added below has the new one.
  const isReplaced = ({ action, member }: PlanEntry): boolean =>
    action === 'addMember' && !!member?.ref && parents.has(member.ref);
  const remaining = found.filter((entry) => !isReplaced(entry));
  // Pending additions of newly linked users. The sync of a group sends these without reading its members, so their followers are
  // planned even if the new account is a member already.
  const sent = new Set(found.filter((entry) => isReplaced(entry) && isPending(entry)).map(membershipKey));
  const linked = new Set([...parents.values()].map(platformIdAfter));
  // Before the plan, an account that the plan links looks like an unmanaged member of its groups.
  const isLinkedByPlan = ({ action, effect, member }: PlanEntry): boolean =>
    (action === 'removeMember' || action === 'unmanaged') &&
    effect === 'report' &&
    member?.ref === null &&
    linked.has(member.platformId ?? '');
  const memberOf = new Map(verified.map(({ ref, memberOf: groups }) => [ref, groups?.map(({ id }) => id)]));
  const followers = await missingFollowers(scan, remaining, { parents, returning, memberOf, sent });
  return [...ofDefinitions, ...remaining.filter((entry) => !isLinkedByPlan(entry)), ...followers];
}

/**
 * Returns an entry for each membership that the syncs of these changes write, and that has no entry yet.
 * @param planned the other entries of the plan
 * @param options.memberOf platform ids of the groups of each account
 * @param options.sent as in `followersOfUsers`
 */
async function missingFollowers(
  scan: ScanResult,
  planned: readonly PlanEntry[],
  {
    parents,
    returning,
    memberOf,
    sent,
  }: {
    parents: ReadonlyMap<Ref, PlanEntry>;
    returning: readonly PlanEntry[];
    memberOf: ReadonlyMap<Ref, readonly string[] | undefined>;
    sent: ReadonlySet<string>;
  },
): Promise<PlanEntry[]> {
  const plannedKeys = new Set(planned.filter(({ action }) => action === 'addMember').map(membershipKey));
  const followers: PlanEntry[] = [];
  const add = (following: Following): void => {
    const { group, user } = following;
    const key = membershipKey({ ref: group.ref, member: { ref: user } });
    if (plannedKeys.has(key)) return;
    plannedKeys.add(key);
    followers.push(toFollower(following));
  };
  for (const parent of parents.values()) {
    if (parent.kind !== 'Group') continue;
    for (const each of await followersOfGroup(scan, parent, parents)) add(each);
  }
  const users = [...[...parents.values()].filter(({ kind }) => kind === 'User'), ...returning];
  for (const portion of inPortions(users, PORTION))
    for (const each of await followersOfUsers(scan, portion, parents, { memberOf, sent })) add(each);
  return followers;
}

/** Returns for each user who comes back into scope one of the user's changes, to which the memberships are added. */
function returningUsers(found: readonly PlanEntry[], verified: readonly VerifiedResource[]): PlanEntry[] {
  const refs = new Set(verified.flatMap(({ ref, isReturning }) => (isReturning ? [ref] : [])));
  const changes = found.filter(
    (entry) =>
      entry.ref !== null && refs.has(entry.ref) && isChange(entry) && !NEWLY_LINKED.has(entry.action),
  );
  return [...new Map(changes.map((entry) => [entry.ref, entry])).values()];
}

/** Actions that link a resource to an account or group that exists at the platform. */
const TAKES_OVER: ReadonlySet<PlanEntry['action']> = new Set(['adopt', 'relink']);

/**
 * Returns the entries without removals of members whose account the platform does not have any more. If the user has a conflict, so
 * that no run creates the account anew, the additions of the user are only reported.
 */
function withoutGoneMembers(entries: PlanEntry[], verified: readonly VerifiedResource[]): PlanEntry[] {
  const gone = new Set(
    verified
      .filter(({ ref, version, account }) => ref.startsWith('User:') && version !== undefined && !account)
      .map(({ ref }) => ref),
  );
  const newlyLinked = new Set(
    entries.filter((entry) => NEWLY_LINKED.has(entry.action) && isChange(entry)).map(({ ref }) => ref),
  );
  return entries.flatMap((entry): PlanEntry[] => {
    const { action, member } = entry;
    if (!member?.ref || member.platformId === null || !gone.has(member.ref)) return [entry];
    if (action === 'removeMember') return [];
    const isWaiting = action === 'addMember' && isChange(entry) && !newlyLinked.has(member.ref);
    return [isWaiting ? reportedAs(entry, WAITS_FOR_USER) : entry];
  });
}

/** Returns the entries without additions of users who are out of scope: their syncs drop what is pending. */
function withoutAddedLeavers(entries: PlanEntry[], verified: readonly VerifiedResource[]): PlanEntry[] {
  const outOfScope = new Set(verified.filter(({ isOut }) => isOut).map(({ ref }) => ref));
  return entries.filter(
    ({ action, member }) => action !== 'addMember' || !member?.ref || !outOfScope.has(member.ref),
  );
}

/**
 * Returns the entries with a conflict in place of each adoption that the sync will refuse. The values of the user are left out, and
 * the memberships are only reported.
 */
function withoutRefusedAdoptions(entries: PlanEntry[], verified: readonly VerifiedResource[]): PlanEntry[] {
  const reasons = new Map(
    verified.flatMap(({ ref, notAdopted, entries: own }) =>
      notAdopted !== undefined && own.some((entry) => isChange(entry) && TAKES_OVER.has(entry.action))
        ? [[ref, notAdopted] as const]
        : [],
    ),
  );
  if (reasons.size === 0) return entries;
  return entries.flatMap((entry): PlanEntry[] => {
    const { member } = entry;
    const ref = member ? member.ref : entry.ref;
    const reason = ref === null ? undefined : reasons.get(ref);
    if (reason === undefined || !isChange(entry)) return [entry];
    if (member) return [reportedAs(entry, WAITS_FOR_USER)];
    if (!TAKES_OVER.has(entry.action)) return [];
    return [{ ...entry, action: 'conflict', effect: 'report', reason, attribution: { cause: 'none' } }];
  });
}
