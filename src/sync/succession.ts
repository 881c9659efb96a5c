// Names change hands: one resource of ours gives a name up while another one takes it, and chance decides whose job
// runs first. The successor waits for the one who leaves instead of calling it a conflict.
import { fold, parseRef, refOf, type Kind } from '../directory/records.ts';
import type { Destruction } from '../directory/guard/guard-store.ts';
import type { SyncContext } from './context.ts';

const STEP_MS = 250;
const LONGEST_STEP_MS = 5000;
/** Two who exchange names wait for each other; after about a minute a person is told. */
const PATIENCE = 20;

/** A held change may take days: the sync looks again at intervals, without a dead letter. */
const HELD_LOOK_MS = 60_000;

/** Whether the platform's resource belongs to another one of ours whose sync is still to come, running, or held. */
export async function isHandedOn(context: SyncContext, kind: Kind, platformId: string): Promise<boolean> {
  const { gate, links, outbox, target, work } = context;
  const holder = await links.holderOf(target.name, kind, platformId);
  if (holder === undefined || holder === work.ref) return false;
  const { id } = parseRef(holder);
  // A membership that is still to be taken away hangs on the account: its next owner must not inherit it.
  const groups = kind === 'User' ? await outbox.owedRemovals(id) : [];
  const held = await outbox.guardStore.areHeld([
    { kind: 'deactivate', ref: holder },
    { kind: 'delete', ref: holder },
    ...groups.map((group) => removal(group, id)),
  ]);
  gate.isBehindHold = held.includes(true);
  return gate.isBehindHold || groups.length > 0 || (await outbox.isMarked(holder));
}

/** Whether a list shows something of ours under a name that it has given up since. Other resources are as shown. */
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

/** How long to wait for the one who leaves; undefined when patience is over. */
export function successionWait({ gate, link }: SyncContext): number | undefined {
  if (gate.isBehindHold) return HELD_LOOK_MS;
  link.attempts = (link.attempts ?? 0) + 1;
  return link.attempts > PATIENCE ? undefined : Math.min(STEP_MS * link.attempts, LONGEST_STEP_MS);
}
