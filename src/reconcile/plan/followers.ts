// Adds the entries that the sync of a created, adopted, relinked or returning resource causes: memberships and attribute definitions.
import { parseRef, refOf, type Ref } from '../../directory/records.ts';
import type { Link } from '../../directory/outbox/links.ts';
import { inPortions } from '../../directory/redis/portions.ts';
import { isChange, isPending, isProtected, NEWLY_LINKED, refusalOf, type PlanEntry } from '../entry.ts';
import {
  definitionEntries,
  goneWithDefinition,
  toDefinitionConflict,
  toTypeConflict,
  type DefinitionFindings,
  type DefinitionReads,
} from '../compare/definitions.ts';
import type { ScanResult } from '../scope.ts';
import { isLostValue, withoutUnmappable, withTypeConflict } from '../unwritten/unmappable.ts';
import type { VerifiedResource } from '../compare/verified.ts';
import { asking } from '../compare/platform-reads.ts';

/** Number of users whose groups are read at once. */
const PORTION = 200;

/** A membership that the sync of `parent` writes too. `link` has the id of the user's account, `name` is the userName. */
interface Following {
  parent: PlanEntry;
  group: GroupOfPlan;
  user: Ref;
  link: Link;
  name: string;
}

/** A group with its id at the platform; null: this plan creates it. */
interface GroupOfPlan {
  ref: Ref;
  platformId: string | null;
  name: string;
}

/**
 * Returns the entries together with their followers: entries that the sync of another entry's resource writes too. A follower
 * names that resource in `follows`. Only that resource is marked, never the follower itself. Activations and memberships that
 * wait for a value which cannot be written are only reported.
 * @param reads whether definitions are always read, and how a definition of another type is reported
 */
export async function withFollowers(
  scan: ScanResult,
  entries: PlanEntry[],
  verified: readonly VerifiedResource[],
  reads: DefinitionReads = {},
): Promise<PlanEntry[]> {
  const written = withoutRefusedAdoptions(withGoneMembers(entries, verified), verified);
  const definitions = await definitionEntries(scan, written, reads);
  // Users whose last sync could not write a value; the next one tries all values that differ.
  const refused = verified.filter(({ refusal }) => refusal?.reason === 'AttributesNotWritten');
  // Users whose activation and memberships wait for a value.
  const waiting = new Set([
    ...verified.flatMap(({ ref, isUnmappable }) => (isUnmappable ? [ref] : [])),
    ...withTypeConflict(written, definitions.conflicts, new Set(refused.map(({ ref }) => ref))),
  ]);
  const withConflicts = written.map((entry) => toTypeConflict(entry, definitions.conflicts, waiting));
  const all = await withAllFollowers(scan, withConflicts, verified, { ...definitions, ...reads });
  // Users of whom an applied value is lost at the platform and cannot be written again.
  const lost = new Set(withConflicts.filter(isLostValue).map(({ ref }) => ref));
  return withoutUnmappable(withoutAddedLeavers(all, verified), waiting, scan.scope.target.policy, lost);
}

/**
 * Returns the entries without removals of members whose account the platform does not have any more. Additions of those whose
 * account no run makes anew, because the user has a conflict, are only reported.
 */
function withGoneMembers(entries: PlanEntry[], verified: readonly VerifiedResource[]): PlanEntry[] {
  const gone = new Set(
    verified.flatMap(({ ref, version, account }) =>
      ref.startsWith('User:') && version !== undefined && !account ? [ref] : [],
    ),
  );
  const anew = new Set(
    entries.flatMap((entry) => (NEWLY_LINKED.has(entry.action) && isChange(entry) ? [entry.ref] : [])),
  );
  return entries.flatMap((entry): PlanEntry[] => {
    const { action, member } = entry;
    if (!member?.ref || member.platformId === null || !gone.has(member.ref)) return [entry];
    if (action === 'removeMember') return [];
    if (action !== 'addMember' || !isChange(entry) || anew.has(member.ref)) return [entry];
    return [
      { ...entry, effect: 'report', reason: `${entry.reason}; waits for the user, who needs a person` },
    ];
  });
}

/** Returns the entries without additions of users who are out of scope: their syncs drop what is pending. */
function withoutAddedLeavers(entries: PlanEntry[], verified: readonly VerifiedResource[]): PlanEntry[] {
  const out = new Set(verified.flatMap(({ ref, isOut }) => (isOut ? [ref] : [])));
  return entries.filter(
    ({ action, member }) => action !== 'addMember' || !member?.ref || !out.has(member.ref),
  );
}

/** Returns the entries; a conflict takes the place of an adoption that the sync will refuse, and of the values and memberships behind it. */
function withoutRefusedAdoptions(entries: PlanEntry[], verified: readonly VerifiedResource[]): PlanEntry[] {
  const reasons = new Map(
    verified.flatMap(({ ref, notAdopted, entries: own }) =>
      notAdopted !== undefined && own.some((entry) => isChange(entry) && entry.action === 'adopt')
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
    if (member)
      return [
        { ...entry, effect: 'report', reason: `${entry.reason}; waits for the user, who needs a person` },
      ];
    if (entry.action !== 'adopt') return [];
    return [{ ...entry, action: 'conflict', effect: 'report', reason, attribution: { cause: 'none' } }];
  });
}

/** Returns the entries with the definitions and memberships that follow from them. */
async function withAllFollowers(
  scan: ScanResult,
  entries: PlanEntry[],
  verified: readonly VerifiedResource[],
  { definitions: missing, conflicts, inOne = false }: DefinitionFindings & DefinitionReads,
): Promise<PlanEntry[]> {
  // With `inOne` a definition of another type is reported once, so the conflicts of the single users are left out.
  const found = goneWithDefinition(entries, missing).filter(
    ({ action, attribute }) => !inOne || action !== 'conflict' || attribute === undefined,
  );
  const ofDefinitions = [...missing, ...(inOne ? [...conflicts].map(toDefinitionConflict) : [])];
  const parents = new Map<Ref, PlanEntry>();
  for (const entry of found)
    if (isChange(entry) && NEWLY_LINKED.has(entry.action) && entry.ref) parents.set(entry.ref, entry);
  const returning = returningUsers(found, verified);
  if (parents.size + returning.length === 0) return [...ofDefinitions, ...found];
  // A drift note of such a membership would name the account that is gone; the follower that is added below has the new
  // account.
  const isReplaced = ({ action, member }: PlanEntry): boolean =>
    action === 'addMember' && !!member?.ref && parents.has(member.ref);
  const kept = found.filter((entry) => !isReplaced(entry));
  // The sync of a group sends its pending additions without reading its members, so also those that the account shows already.
  const sent = new Set(found.filter((entry) => isReplaced(entry) && isPending(entry)).map(membershipKey));
  const named = new Set(kept.filter(({ action }) => action === 'addMember').map(membershipKey));
  // The account of a member at the source is linked by this plan too, so that member is no surplus one of an adopted group.
  const linked = new Set([...parents.values()].map(platformIdAfter));
  const isOurs = ({ action, effect, member }: PlanEntry): boolean =>
    (action === 'removeMember' || action === 'unmanaged') &&
    effect === 'report' &&
    member?.ref === null &&
    linked.has(member.platformId ?? '');
  const memberOf = new Map(verified.map(({ ref, memberOf: groups }) => [ref, groups?.map(({ id }) => id)]));
  const followers: PlanEntry[] = [];
  const add = (following: Following): void => {
    const { group, user } = following;
    const key = membershipKey({ ref: group.ref, member: { ref: user } });
    if (named.has(key)) return;
    named.add(key);
    followers.push(toEntry(following));
  };
  for (const parent of parents.values()) {
    if (parent.kind !== 'Group') continue;
    for (const each of await membersOf(scan, parent, parents)) add(each);
  }
  const users = [...[...parents.values()].filter(({ kind }) => kind === 'User'), ...returning];
  for (const portion of inPortions(users, PORTION))
    for (const each of await groupsOf(scan, portion, parents, { memberOf, sent })) add(each);
  return [...ofDefinitions, ...kept.filter((entry) => !isOurs(entry)), ...followers];
}

/** Returns the key by which two entries about the same membership are found. */
const membershipKey = ({ ref, member }: { ref: Ref | null; member?: { ref: Ref | null } }): string =>
  `${ref ?? ''} ${member?.ref ?? ''}`;

/** Returns for each user who comes back into scope one of the user's changes, to which the memberships are added. */
function returningUsers(found: readonly PlanEntry[], verified: readonly VerifiedResource[]): PlanEntry[] {
  const refs = new Set(verified.flatMap(({ ref, isReturning }) => (isReturning ? [ref] : [])));
  const changes = found.filter(
    (entry) =>
      entry.ref !== null && refs.has(entry.ref) && isChange(entry) && !NEWLY_LINKED.has(entry.action),
  );
  return [...new Map(changes.map((entry) => [entry.ref, entry])).values()];
}

/** Returns the id of the account or group after the plan is applied; undefined for one that is created. */
function platformIdAfter({ action, after, platformId }: PlanEntry): string | undefined {
  if (action === 'create') return undefined;
  return NEWLY_LINKED.has(action) ? String(after?.id) : (platformId ?? undefined);
}

/** Returns the entry of a membership; `report` if the user's own last sync was refused. */
function toEntry({ parent, group, user, link, name }: Following): PlanEntry {
  const refusal = refusalOf(link);
  const waits = refusal ? `; waits for the user, who needs a person (${refusal.reason})` : '';
  const why = parent.kind === 'User' ? 'the account' : 'the group';
  const isAnew = NEWLY_LINKED.has(parent.action);
  const how = parent.action === 'create' ? 'created' : isAnew ? 'linked anew' : 'managed again';
  return {
    action: 'addMember',
    kind: 'Group',
    ref: group.ref,
    platformId: group.platformId,
    name: group.name,
    member: { ref: user, platformId: link.id ?? null, name },
    before: { member: false },
    after: { member: true },
    effect: refusal ? 'report' : 'apply',
    reason: `member at the source; ${why} is ${how}${waits}`,
    attribution: parent.attribution,
    basis: parent.basis,
    follows: parent.ref as Ref,
  };
}

/** Returns the members of a group that is created or adopted. */
async function membersOf(
  scan: ScanResult,
  parent: PlanEntry,
  parents: ReadonlyMap<Ref, PlanEntry>,
): Promise<Following[]> {
  const { drifts, target } = scan.scope;
  const ref = parent.ref as Ref;
  const isCreated = parent.action === 'create';
  // Members of an adopted group are not written under this policy.
  if (!isCreated && target.policy.policy === 'create-only') return [];
  const platformId = platformIdAfter(parent) ?? null;
  const present = platformId === null ? undefined : await presentIn(scan, platformId);
  const group = { ref, platformId, name: parent.name };
  return (await drifts.membersOf(parseRef(ref).id)).flatMap(({ user, link }) => {
    const member = refOf('User', user);
    const anew = parents.get(member);
    const id = anew ? platformIdAfter(anew) : link.id;
    // The sync of the group adds members with an account, and those that this plan creates or links.
    const isWritten = anew !== undefined || (link.id !== undefined && link.departed !== true);
    if (!isWritten || isProtected(link, target.policy.users.protected)) return [];
    const isMember = id !== undefined && present?.has(id) === true;
    if (isMember) return [];
    const account = anew ? (id === undefined ? {} : { id }) : link;
    const name = anew?.name ?? String(link.core?.userName ?? '');
    return [{ parent, group, user: member, link: account, name }];
  });
}

/** Returns the platform ids of the members of a group that is adopted. */
async function presentIn(scan: ScanResult, id: string): Promise<ReadonlySet<string>> {
  const group = await asking(scan, (signal) => scan.scope.target.client.groups.get(id, {}, { signal }));
  if (group === 'absent' || group === 'unknown') return new Set();
  return new Set((group.members ?? []).map(({ value }) => value));
}

/** Returns the memberships of users whose account is created or adopted, in groups that exist or are created too. */
async function groupsOf(
  scan: ScanResult,
  users: PlanEntry[],
  parents: ReadonlyMap<Ref, PlanEntry>,
  {
    memberOf,
    sent,
  }: { memberOf: ReadonlyMap<Ref, readonly string[] | undefined>; sent: ReadonlySet<string> },
): Promise<Following[]> {
  const { directory, links, target } = scan.scope;
  const byId = new Map(users.map((entry) => [parseRef(entry.ref as Ref).id, entry]));
  const following: Following[] = [];
  for await (const portion of directory.usersIn([...byId.keys()])) {
    const refs = [...new Set(portion.flatMap(({ groups }) => groups.map(({ id }) => refOf('Group', id))))];
    const known = await links.getMany(target.name, refs);
    const linkOf = new Map(refs.map((ref, index) => [ref, known[index] ?? {}]));
    for (const { record, groups } of portion) {
      const parent = byId.get(record.id);
      if (!parent) continue;
      const id = platformIdAfter(parent);
      const has = new Set(id === undefined ? [] : memberOf.get(refOf('User', record.id)));
      for (const { id: groupId, displayName } of groups) {
        const ref = refOf('Group', groupId);
        const name = target.mapping.groupName(displayName);
        const link = linkOf.get(ref) ?? {};
        // Under create-only a group is changed only until its creation is complete (`making`).
        const isFrozen = target.policy.policy === 'create-only' && link.making !== true;
        // The members of a group that this plan creates or links are added by `membersOf`.
        const isThere = link.id !== undefined && link.departed !== true && !isFrozen && !parents.has(ref);
        const member = { ref: refOf('User', record.id) };
        const isWritten = !has.has(link.id ?? '') || sent.has(membershipKey({ ref, member }));
        if (name === undefined || !isThere || !isWritten) continue;
        const group = { ref, platformId: link.id ?? null, name };
        const account: Link = id === undefined ? {} : { id };
        following.push({ parent, group, user: member.ref, link: account, name: parent.name });
      }
    }
  }
  return following;
}
