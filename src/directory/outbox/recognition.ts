// Stores at which addresses of a target its linked accounts were recognised, and tells while what is there may belong to another
// tenant (ADR 0022).
import { createOperatorHold, isTenantHold, type Hold } from '../guard/operator-hold.ts';
import type { StoreDeps } from '../redis/scripts.ts';

/**
 * Why nothing at a target may count as a state of the linked accounts: an id of a link may lead to somebody else there. `address`:
 * the settings name an address at which no linked account was found yet. `tenant`: a reconcile holds the target as another tenant.
 */
export type Unrecognised = 'address' | 'tenant';

/** Returns why a target is not recognised; undefined: it is. A hold of a reconcile counts more: accounts were compared before it. */
export function unrecognisedBy(
  hold: Pick<Hold, 'by'> | null | undefined,
  hasMoved: boolean,
): Unrecognised | undefined {
  if (hold && isTenantHold(hold)) return 'tenant';
  return hasMoved ? 'address' : undefined;
}

/** An entry of `tenant:<target>` that is no address: an empty set would mean that every address is accepted (`hasMoved`). */
const NO_ADDRESS = '-';

/** @param address the one in the settings */
export function createRecognition(deps: StoreDeps, { target, address }: { target: string; address: string }) {
  const { redis, keys } = deps;
  const { onHold } = createOperatorHold(deps, target);
  const known = keys.key('tenant', target);

  /** Returns whether the tenant was recognised at other addresses only. Then nothing is written. */
  async function hasMoved(): Promise<boolean> {
    const addresses = await redis.smembers(known);
    return addresses.length > 0 && !addresses.includes(address);
  }

  /** Returns why no command may read or compare the linked accounts; undefined: they are recognised, or there are none. */
  async function whyUnrecognised(): Promise<Unrecognised | undefined> {
    const [hold, isNew] = await Promise.all([onHold(), hasMoved()]);
    return unrecognisedBy(hold, isNew);
  }

  /** Stores that the linked accounts were recognised at this address. */
  async function noteAddress(): Promise<void> {
    await redis.sadd(known, address);
  }

  /** Forgets the addresses at which the accounts were recognised, so that the present one counts as another. */
  async function forgetAddresses(): Promise<void> {
    await redis.multi().del(known).sadd(known, NO_ADDRESS).exec();
  }

  return { hasMoved, whyUnrecognised, noteAddress, forgetAddresses };
}
