// Stores the orders to forget a person of one connection until they are complete, so that an order can be completed after a kill.
import { hash } from 'node:crypto';
import type { Actor } from '../logs/acts.ts';
import type { Ref } from '../records.ts';
import type { StoreDeps } from '../redis/scripts.ts';

/** An order to forget a person that is not complete. */
export interface ForgetOrder {
  names: string[];
  /** externalIds of the person, by which a person who is pushed again is recognised. */
  externalIds: string[];
  /** The operator who gave the order. */
  actor: Actor;
  /** True: the order is completed although accounts of the person are open at the platforms. */
  leaveAccounts: boolean;
  /** Pushed users whom the operator named as somebody else although they have a name of the person. */
  otherPeople: readonly Ref[];
  /** Time of the order, Unix milliseconds. */
  since: number;
  /** Time of the last attempt to complete it, Unix milliseconds. */
  triedAt: number;
  /**
   * An attempt to complete the order found the person pushed again, or a pushed user who may be the person. The order does not
   * cover newer data, so it is not retried.
   */
  wasPushedAgain?: true;
}

/** `text`: the order as it is stored. */
export type StoredForgetOrder = ForgetOrder & { ref: Ref; text: string };

export function createForgetOrders({ redis, scripts, keys }: StoreDeps) {
  /** Hash: ref of a user whom an order covers → the order as JSON. */
  const orders = keys.key('forgetting');
  return {
    /** Stores an order for each user whom it covers. */
    async start(refs: readonly Ref[], order: ForgetOrder): Promise<void> {
      for (const ref of refs) await redis.hset(orders, ref, JSON.stringify(order));
    },

    /** Returns the orders that are not complete. */
    async incomplete(): Promise<StoredForgetOrder[]> {
      const found = await redis.hgetall(orders);
      return Object.entries(found).map(([ref, text]) => ({ ref: ref as Ref, text, ...parseOrder(text) }));
    },

    /** Changes a stored order. @returns undefined when another process has changed or completed the order since it was read */
    async change(
      { ref, text }: StoredForgetOrder,
      changes: Partial<ForgetOrder>,
    ): Promise<StoredForgetOrder | undefined> {
      const order = { ...parseOrder(text), ...changes };
      const changed = JSON.stringify(order);
      const args = { family: 'forgetting', field: ref, before: hash('sha1', text) };
      const [tag] = await scripts.run('replace_text', keys.base, args, changed);
      return tag === 'replaced' ? { ref, text: changed, ...order } : undefined;
    },

    /** Deletes a complete order. */
    async end(refs: readonly Ref[]): Promise<void> {
      await redis.hdel(orders, ...refs);
    },
  };
}

const parseOrder = (text: string): ForgetOrder => JSON.parse(text) as ForgetOrder;
