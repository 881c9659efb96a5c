// Finds the memberships that the sync of another resource writes too: of a created, adopted or relinked group
// (`followersOfGroup`), and of a created, adopted, relinked or returning user (`followersOfUsers`). `toFollower` makes the entry
// of one; its parent is the change whose sync writes it.
import { parseRef, refOf, type Ref } from '../../directory/records.ts';
import type { Link } from '../../directory/outbox/link.ts';
import { refusalOf } from '../../directory/outbox/link-condition.ts';
import type { SyncPolicy } from '../../sync/target.ts';
import { MEMBER_ADDED, NEWLY_LINKED, type PlanEntry } from '../entry.ts';
import type { ScanResult } from '../scope.ts';
import { WAITS_FOR_USER } from '../compare/group-case.ts';
import { asking } from '../compare/platform-reads.ts';
import { isProtected, protectionAt } from '../compare/protected.ts';

/** A membership that the sync of `parent` writes too. `link` has the id of the user's account, `name` is the userName. */
export interface Following {
  parent: PlanEntry;
  /** `platformId` null: this plan creates the group. */
  group: { ref: Ref; platformId: string | null; name: string };
  user: Ref;
  link: Link;
  name: string;
}

/** Returns the memberships that the sync of a group writes when it creates, adopts or relinks the group. */
export async function followersOfGroup(
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
  const protection = protectionAt(target);
  return (await drifts.membersOf(parseRef(ref).id)).flatMap(({ user, link }) => {
    const member = refOf('User', user);
    const anew = parents.get(member);
    const id = anew ? platformIdAfter(anew) : link.id;
    // The sync of the group adds members who have an account, and members whose account this plan creates or links.
    const isWritten = anew !== undefined || (link.id !== undefined && link.departed !== true);
    if (!isWritten || isProtected(link, protection)) return [];
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
  // Not read: all members at the source are planned. The sync writes the same, because it adds each member whom it does not see.
  if (group === 'absent' || group === 'unknown') return new Set();
  return new Set((group.members ?? []).map(({ value }) => value));
}

/**
 * Returns the memberships that the sync of a created, adopted, relinked or returning user writes, in groups that are linked
 * already. The groups that the plan itself creates or links (`parents`) are left out: `followersOfGroup` returns their memberships.
 * @param memberOf platform ids of the groups of each account: the sync adds no membership there, unless `sent` has it
 * @param sent keys (`membershipKey`) of the pending additions, which a sync sends even if the account is a member already
 */
export async function followersOfUsers(
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
      const user = refOf('User', record.id);
      const account: Link = id === undefined ? {} : { id };
      const has = new Set(id === undefined ? [] : memberOf.get(user));
      for (const { id: groupId, displayName } of groups) {
        const ref = refOf('Group', groupId);
        const name = target.mapping.groupName(displayName);
        const link = linkOf.get(ref) ?? {};
        // The members of a group that this plan creates or links are added by `followersOfGroup`.
        if (name === undefined || parents.has(ref) || !takesMembers(link, target.policy)) continue;
        const isMember = has.has(link.id ?? '');
        if (isMember && !sent.has(membershipKey({ ref, member: { ref: user } }))) continue;
        const group = { ref, platformId: link.id ?? null, name };
        following.push({ parent, group, user, link: account, name: parent.name });
      }
    }
  }
  return following;
}

/** Returns whether the bridge adds members to the group of a link. */
function takesMembers(link: Link, { policy }: Pick<SyncPolicy, 'policy'>): boolean {
  // Under create-only a group is changed only until its creation is complete (`isIncomplete`).
  const isLeftAsItIs = policy === 'create-only' && link.isIncomplete !== true;
  return link.id !== undefined && link.departed !== true && !isLeftAsItIs;
}

/** Returns the entry of a membership. Its effect is `report` if the user's own last sync was refused. */
export function toFollower({ parent, group, user, link, name }: Following): PlanEntry {
  const refusal = refusalOf(link);
  const waits = refusal ? `${WAITS_FOR_USER} (${refusal.reason})` : '';
  const why = parent.kind === 'User' ? 'the account' : 'the group';
  const isAnew = NEWLY_LINKED.has(parent.action);
  const how = parent.action === 'create' ? 'created' : isAnew ? 'linked anew' : 'managed again';
  return {
    ...MEMBER_ADDED,
    kind: 'Group',
    ref: group.ref,
    platformId: group.platformId,
    name: group.name,
    member: { ref: user, platformId: link.id ?? null, name },
    effect: refusal ? 'report' : 'apply',
    reason: `member at the source; ${why} is ${how}${waits}`,
    attribution: parent.attribution,
    basis: parent.basis,
    follows: parent.ref as Ref,
  };
}

/** Returns the key by which two entries about the same membership are found. */
export const membershipKey = ({ ref, member }: { ref: Ref | null; member?: { ref: Ref | null } }): string =>
  `${ref ?? ''} ${member?.ref ?? ''}`;

/** Returns the id of the account or group after the plan is applied; undefined for one that is created. */
export function platformIdAfter({ action, after, platformId }: PlanEntry): string | undefined {
  if (action === 'create') return undefined;
  return NEWLY_LINKED.has(action) ? String(after?.id) : (platformId ?? undefined);
}
