// Lists the unmanaged accounts (no identity provider pushed them) whose removal from a group is pending.
import { isUnmanaged, unmanagedId } from '../../directory/member-names.ts';
import type { PendingSign } from '../../directory/outbox/pending-memberships.ts';
import { unmanagedMember } from '../../reconcile/compare/unmanaged-member.ts';
import { isChange, MEMBER_REMOVED, NO_BASIS, type PlanEntry } from '../../reconcile/entry.ts';
import type { ComparedOne } from '../../reconcile/plan/compare-one.ts';
import { createNarrowScan } from '../../reconcile/plan/narrow-scan.ts';
import type { ReconcileScope } from '../../reconcile/scope.ts';
import { mapBounded } from '../../support/bounded.ts';
import type { FoundResource } from '../find.ts';

/** Facts from which pending memberships are listed. */
export interface PendingToList {
  /** The comparison with the platform. */
  look: ComparedOne;
  /** Signs of the pending memberships (`SyncReport.pendingGroups`). */
  pendingGroups: Readonly<Record<string, PendingSign>>;
  signal: AbortSignal;
}

/** Number of accounts that are read at the same time. */
const READ_AT_ONCE = 2;
/** Largest number of accounts that are read; the others are listed without a read. */
const MOST_READ = 100;

/** End of the reason of a removal beyond MOST_READ: the sync reads the account before it removes the member. */
const UNREAD = `; not read, as one of more than ${MOST_READ}: nothing is written if the account is protected or gone`;

/**
 * Returns the pending removals of unmanaged accounts. Only `groups.members: authoritative` together with the policy `sync` removes
 * such accounts, so with other settings there are none. There are none either for a group that is created or deleted as a whole.
 * Members who are gone from the group at the platform are left out, and so are accounts that are gone or protected, as far as they
 * are read.
 */
export async function foreignRemovals(
  scope: ReconcileScope,
  { ref, name }: FoundResource,
  { look, pendingGroups, signal }: PendingToList,
): Promise<PlanEntry[]> {
  const { links, outbox, target } = scope;
  const { groups, policy } = target.policy;
  const isWhole = look.entries.some(
    (entry) =>
      entry.ref === ref && (entry.action === 'create' || (entry.action === 'delete' && isChange(entry))),
  );
  if (isWhole || groups.members !== 'authoritative' || policy !== 'sync') return [];
  // Held or rejected removals that the platform has already.
  const removed = new Set((look.done?.items ?? []).map(({ subject }) => subject));
  const foreign = Object.keys(pendingGroups).filter((user) => isUnmanaged(user) && !removed.has(user));
  if (foreign.length === 0) return [];
  const scan = createNarrowScan(scope, signal);
  const unread = foreign.slice(MOST_READ);
  const [link, accounts, names] = await Promise.all([
    links.get(target.name, ref),
    // '': the member's name in a list, which is used only under `groups.members: owned`.
    mapBounded(foreign.slice(0, MOST_READ), READ_AT_ONCE, (user) =>
      unmanagedMember(scan, unmanagedId(user), ''),
    ),
    outbox.unmanagedNames.namesOf(unread),
  ]);
  const unreadMembers = unread.map((user) => {
    const platformId = unmanagedId(user);
    return { ref: null, platformId, name: names.get(user) ?? platformId };
  });
  const readMembers = accounts.flatMap((members) =>
    members === 'unknown' ? [] : members.filter(({ isKept }) => !isKept),
  );
  return [...readMembers, ...unreadMembers].map((member, index) => ({
    ...MEMBER_REMOVED,
    kind: 'Group',
    ref,
    platformId: link.id ?? null,
    name: target.mapping.groupName(name) ?? name,
    member,
    effect: 'apply',
    reason: `no member at the source, added at the platform${index < readMembers.length ? '' : UNREAD}`,
    attribution: { cause: 'source changed' },
    basis: NO_BASIS,
  }));
}
