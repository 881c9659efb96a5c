// Handles names that pass from one resource to another. The two syncs run in any order, so the new holder waits for the
// former one instead of reporting a conflict.
import { fold, parseRef, refOf, type Kind, type Ref } from '../directory/records.ts';
import type { Destruction } from '../directory/guard/held-changes.ts';
import type { SyncContext } from './context.ts';

const STEP_MS = 250;
const MAX_STEP_MS = 5000;
/** Number of attempts before a conflict is reported; they take about a minute. */
const MAX_ATTEMPTS = 20;

/** Interval of attempts while the former holder's change is held by the guard. */
const HELD_RETRY_MS = 60_000;

/** Returns whether another resource with a pending, running or held sync is linked to the platform's resource. */
export async function isHandedOn(context: SyncContext, kind: Kind, platformId: string): Promise<boolean> {
  const { gate, links, outbox, target, work } = context;
  const holder = await links.holderOf(target.name, kind, platformId);
  if (holder === undefined || holder === work.ref) return false;
  const { id } = parseRef(holder);
  // The new holder must not inherit memberships whose removal is pending.
  const groups = kind === 'User' ? await outbox.pendingRemovals(id) : [];
  const held = await outbox.guardStore.areHeld([
    { kind: 'deactivate', ref: holder },
    { kind: 'delete', ref: holder },
    ...groups.map((group) => removal(group, id)),
  ]);
  gate.isBehindHold = held.includes(true);
  return gate.isBehindHold || groups.length > 0 || (await outbox.isMarked(holder));
}

/**
 * Returns why another user must not get the account of a leaver: a person rejected that it is closed, or taken out of a group, or
 * the leaver is protected, so it still has the leaver's access.
 */
export async function keptForLeaver({ outbox }: SyncContext, leaver: Ref): Promise<string | undefined> {
  const [isOpen, isKept] = await outbox.guardStore.areRejected([
    { kind: 'deactivate', ref: leaver },
    { kind: 'delete', ref: leaver },
  ]);
  const { pendingGroups } = await outbox.resourceStatus(leaver);
  const kept = [...pendingGroups].flatMap(([group, sign]) =>
    sign === 'r' ? [removal(group, parseRef(leaver).id)] : [],
  );
  if (!isOpen && !isKept && kept.length === 0) return undefined;
  const isRejected = isOpen || isKept || (await outbox.guardStore.areRejected(kept)).includes(true);
  if (!isRejected)
    return `the account has the access of a leaver, ${leaver}, whom users.protected keeps in a group against the source: take the name out, restart, then retry`;
  const what = isOpen ? 'deactivation' : isKept ? 'deletion' : 'removal from a group';
  return `the account has the access of a leaver, ${leaver}, whose ${what} a person rejected: approve it or take the rejection back (scim-bridge approvals list --all), then retry`;
}

/** Returns whether a list shows a managed resource under a name that it no longer has. */
export async function isOutdated(
  { links, target }: SyncContext,
  kind: Kind,
  shown: { id: string; name: string },
): Promise<boolean> {
  const holder = await links.holderOf(target.name, kind, shown.id);
  if (holder === undefined) return false;
  const { id, core } = await links.get(target.name, holder);
  const name = kind === 'User' ? core?.userName : core?.displayName;
  return id === shown.id && fold(String(name ?? '')) !== fold(shown.name);
}

export const removal = (group: string, user: string): Destruction => ({
  kind: 'removeMembers',
  ref: refOf('Group', group),
  subject: user,
});

/** Returns the time to wait for the former holder; undefined after the last attempt. */
export function successionWait({ gate, link }: SyncContext): number | undefined {
  if (gate.isBehindHold) return HELD_RETRY_MS;
  link.attempts = (link.attempts ?? 0) + 1;
  return link.attempts > MAX_ATTEMPTS ? undefined : Math.min(STEP_MS * link.attempts, MAX_STEP_MS);
}
