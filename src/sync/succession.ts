// Names change hands: one resource of ours gives a name up while another one takes it, and chance decides whose job
// runs first. The successor waits for the one who leaves instead of calling it a conflict.
import { parseRef, type Kind } from '../directory/records.ts';
import type { SyncContext } from './context.ts';

const STEP_MS = 250;
const LONGEST_STEP_MS = 5000;
/** Two who exchange names wait for each other; after about a minute a person is told. */
const PATIENCE = 20;

/** Whether the platform's resource belongs to another one of ours whose sync is still to come or running. */
export async function isHandedOn(context: SyncContext, kind: Kind, platformId: string): Promise<boolean> {
  const { links, outbox, target, work } = context;
  const holder = await links.holderOf(target.name, kind, platformId);
  if (holder === undefined || holder === work.ref) return false;
  // A membership that is still to be taken away hangs on the account: its next owner must not inherit it.
  return (
    (await outbox.isMarked(holder)) || (kind === 'User' && (await outbox.owesRemoval(parseRef(holder).id)))
  );
}

/** How long to wait for the one who leaves; undefined when patience is over. */
export function successionWait({ link }: SyncContext): number | undefined {
  link.attempts = (link.attempts ?? 0) + 1;
  return link.attempts > PATIENCE ? undefined : Math.min(STEP_MS * link.attempts, LONGEST_STEP_MS);
}
