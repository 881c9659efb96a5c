// Refuses accounts and groups that another connection of the same target is linked to: they are never adopted or changed.
import type { Holder } from '../directory/resources/elsewhere.ts';
import type { Condition } from '../directory/outbox/links.ts';
import type { Kind } from '../directory/records.ts';
import { condition } from './condition.ts';
import type { SyncContext } from './context.ts';

/** Interval of attempts while another connection is saving its link. */
const BUSY_MS = 1000;

export type NotOurs = { kind: 'blocked'; condition: Condition } | { kind: 'later'; afterMs: number };

/** Returns an outcome when another connection is linked to one of the ids; undefined otherwise. */
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

/** Claims the platform id right before a link is saved. @returns an outcome when the link must not be saved */
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

const takenBy = (context: SyncContext, kind: Kind, holder: Holder): Condition =>
  condition(context, 'TakenByConnection', takenText(kind, holder));

/** Returns why an account or group of another connection is not adopted, and what an operator does. */
export function takenText(kind: Kind, { connection, name, ref }: Holder): string {
  const what = kind === 'User' ? 'account' : 'group';
  const freed =
    kind === 'User'
      ? `delete the person there (a deactivated person keeps the account), wait until the account is closed, order scim-bridge links forget ${ref}`
      : `delete the group there (if the policy of the target leaves it, also order scim-bridge links forget ${ref})`;
  return `the ${what} belongs to ${name} (${ref}) of connection ${connection}: rename one of the two; or ${freed}, then retry`;
}
