// Stores at which addresses of a target its linked accounts were recognised, and whether the present one may lead to another
// tenant (ADR 0022).
import { createOperatorHold, isTenantHold, type Hold } from '../guard/operator-hold.ts';
import type { Keyspace } from '../keys.ts';
import type { StoreDeps } from '../redis/scripts.ts';

/**
 * Why a target is not recognised: the id of a link may lead to somebody else there, so no state there counts. `address`: the
 * settings name an address at which no linked account was found yet. `tenant`: a reconcile holds the target as another tenant.
 */
export type Unrecognised = 'address' | 'tenant';

/** Returns why a target is not recognised; undefined: it is. `tenant` goes first: accounts were compared before the hold. */
export function unrecognisedBy(
  hold: Pick<Hold, 'by'> | null | undefined,
  hasMoved: boolean,
): Unrecognised | undefined {
  if (hold && isTenantHold(hold)) return 'tenant';
  return hasMoved ? 'address' : undefined;
}

/** An entry of `tenant:<target>` that is no address: an empty set would mean that every address is accepted (`hasMoved`). */
const NO_ADDRESS = '-';

/** @param options `address`: the one in the settings; `others`: keys of the other connections of the target */
export function createRecognition(
  deps: StoreDeps,
  { target, address, others }: { target: string; address: string; others: readonly Keyspace[] },
) {
  const { redis, scripts, keys } = deps;
  const { onHold } = createOperatorHold(deps, target, others);
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

  /**
   * Called when an operator has accepted another tenant for this connection. Forgets the addresses at which the accounts of all
   * connections were recognised: the present address then counts as another, and each connection compares its linked accounts with
   * the new tenant before it writes. If those of this connection were forgotten already, because the tenant was accepted for
   * another connection, the others keep theirs.
   */
  async function forgetAddresses(): Promise<void> {
    const own = await redis.smembers(known);
    const isReset = own.length === 1 && own[0] === NO_ADDRESS;
    await forgetOf(keys);
    if (!isReset) for (const each of others) await forgetOf(each);
  }

  /**
   * Forgets at which addresses of the target the linked accounts of a connection were recognised. Also ends the leases of its
   * running syncs, so that they stop before their next write.
   */
  async function forgetOf(connection: Keyspace): Promise<void> {
    const name = connection.key('tenant', target);
    await redis.multi().del(name).sadd(name, NO_ADDRESS).exec();
    await scripts.run('end_leases', connection.base, { target });
  }

  return { hasMoved, whyUnrecognised, noteAddress, forgetAddresses };
}
