// Is the platform at this address the one whose accounts our links name? A few links are enough to know that it is; that it
// is another one is for reconcile to find out (reconcile/tenant.ts), and for an operator to decide.
import type { Link, Links } from '../directory/outbox/links.ts';
import type { Outbox } from '../directory/outbox/outbox.ts';
import { fold } from '../directory/records.ts';
import type { WireUser } from '../platform/wire.ts';
import type { Clock } from '../support/sources.ts';
import type { Target } from './target.ts';

/** Accounts that are asked for in one try. */
const SAMPLE = 10;
const LOOK_AGAIN_MS = 5000;

/** Whether an account can be the one that was linked: a person may be renamed, and rarely in all names at once. */
export function isAccountOf({ core = {} }: Link, { userName, externalId }: WireUser): boolean {
  const hasName = fold(String(core.userName ?? '')) === fold(userName);
  return hasName || (externalId !== undefined && core.externalId === externalId);
}

/** Looks every few seconds whether the target's address is known, and recognises it where it can. Ends with `signal`. */
export async function recogniseAddress(
  { target, outbox, links, clock }: { target: Target; outbox: Outbox; links: Links; clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      if ((await outbox.hasMoved()) && (await knowsOneOf(target, links, signal))) await outbox.noteAddress();
    } catch {
      // Redis or the platform is away: both are told of elsewhere.
    }
    await clock.sleep(LOOK_AGAIN_MS, signal).catch(() => undefined);
  }
}

async function knowsOneOf({ name, client }: Target, links: Links, signal: AbortSignal): Promise<boolean> {
  for (const link of await links.some(name, 'User', SAMPLE)) {
    if (link.id === undefined || link.core?.userName === undefined) continue;
    const account = await client.users.get(link.id, { signal }).catch(() => undefined);
    if (account && isAccountOf(link, account)) return true;
  }
  return false;
}
