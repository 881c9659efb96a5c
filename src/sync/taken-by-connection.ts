// One account, one connection: what another connection of the same target is linked to is never adopted, renamed, given
// values or closed by this one.
import type { Holder } from '../directory/resources/elsewhere.ts';
import type { Condition } from '../directory/outbox/links.ts';
import type { Kind } from '../directory/records.ts';
import { condition } from './condition.ts';
import type { SyncContext } from './context.ts';

/** How soon to look again while another connection saves its link. */
const BUSY_MS = 1000;

export type NotOurs = { kind: 'blocked'; condition: Condition } | { kind: 'later'; afterMs: number };

/** Whether another connection is linked to one of these; undefined when none is. */
export async function takenElsewhere(
  context: SyncContext,
  kind: Kind,
  platformIds: string[],
): Promise<NotOurs | undefined> {
  for (const id of platformIds) {
    const holder = await context.links.elsewhere.holderOf(context.target.name, kind, id);
    if (holder) return { kind: 'blocked', condition: takenBy(context, kind, holder) };
  }
  return undefined;
}

/** Asked right before a link is saved. @returns why the link must not be saved; undefined when it may be */
export async function claim(
  context: SyncContext,
  kind: Kind,
  platformId: string,
): Promise<NotOurs | undefined> {
  const { links, target, work } = context;
  const claimed = await links.elsewhere.claim(target.name, work.ref, kind, platformId);
  if (claimed === 'claimed') return undefined;
  if (claimed === 'busy') return { kind: 'later', afterMs: BUSY_MS };
  return { kind: 'blocked', condition: takenBy(context, kind, claimed) };
}

function takenBy(context: SyncContext, kind: Kind, { connection, name, ref }: Holder): Condition {
  const what = kind === 'User' ? 'account' : 'group';
  return condition(
    context,
    'TakenByConnection',
    `the ${what} belongs to ${name} (${ref}) of connection ${connection}: rename one of the two, or let that connection forget its link, then retry`,
  );
}
