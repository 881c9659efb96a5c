// Recognises the tenant of a target at a new address, which may lead to another tenant: one linked account that is found there is
// enough (ADR 0022). Until one is found, no sync writes. If none is found, a reconcile decides by all linked accounts whether it is
// another tenant (reconcile/tenant/tenant.ts).
import type { Link } from '../../directory/outbox/link.ts';
import type { Links } from '../../directory/outbox/links.ts';
import type { Outbox } from '../../directory/outbox/outbox.ts';
import { fold } from '../../directory/records.ts';
import type { WireUser } from '../../platform/wire.ts';
import type { Clock } from '../../support/sources.ts';
import type { Target } from '../target.ts';

/** Number of linked accounts that are read in one attempt. */
const SAMPLE = 10;
/** Interval of attempts to recognise the tenant. */
const RETRY_MS = 5000;

/** Returns whether an account can be the linked one: at least one of its names must agree. */
export function isAccountOf({ core = {} }: Link, { userName, externalId }: WireUser): boolean {
  const hasName = fold(String(core.userName ?? '')) === fold(userName);
  return hasName || (externalId !== undefined && core.externalId === externalId);
}

/**
 * Runs until the signal aborts. While the address is new (`hasMoved`), no sync writes, and this function looks for another
 * sample of linked accounts every RETRY_MS. Once one of them is there, it notes the address, and syncs write again.
 */
export async function recogniseAddress(
  { target, outbox, links, clock }: { target: Target; outbox: Outbox; links: Links; clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      if ((await outbox.hasMoved()) && (await knowsOneOf(target, links, signal))) await outbox.noteAddress();
    } catch {
      // Redis or the platform does not answer; other parts report it.
    }
    await clock.sleep(RETRY_MS, signal);
  }
}

/** Returns whether the platform has one of the sampled accounts. */
async function knowsOneOf({ name, client }: Target, links: Links, signal: AbortSignal): Promise<boolean> {
  for (const link of await links.some(name, 'User', SAMPLE)) {
    // Without an account or its name there is nothing to compare.
    if (link.id === undefined || link.core?.userName === undefined) continue;
    const account = await client.users.get(link.id, { signal }).catch(() => undefined);
    if (account && isAccountOf(link, account)) return true;
  }
  return false;
}
