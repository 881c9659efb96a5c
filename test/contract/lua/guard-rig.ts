// Provides the guard of a store on real Redis, its settings, and destructive changes of users.
import type { Destruction } from '../../../src/directory/guard/held-changes.ts';
import type { GuardStore } from '../../../src/directory/guard/guard-store.ts';
import type { Ref } from '../../../src/directory/records.ts';
import { DESTRUCTIVE_KINDS, type GuardSettings } from '../../../src/guard/judge.ts';
import { idOf, openStore, type Store } from './rig.ts';

export const HOUR = 3_600_000;
/** Returns settings with a window of a day and the same limits for each kind. */
export const guard = (count: number, percent = 100): GuardSettings => ({
  windowMs: 24 * HOUR,
  deactivate: { count, percent },
  delete: { count, percent },
  removeMembers: { count, percent },
  clearAttributes: { count, percent },
});
/** Returns the ref of a user; the user need not be stored. */
export const user = (number: number): Ref => `User:${idOf(`u${number}-`)}`;
export const deactivations = (...numbers: number[]): Destruction[] =>
  numbers.map((number) => ({ kind: 'deactivate', ref: user(number) }));
/** Returns the whole numbers from `from` to `to - 1`. */
export const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);

/** Moves the counted changes, and the ends of the open approval and of approvals that were given, into the past by `ms`. */
export async function passTime({ redis, keys }: Store, ms: number): Promise<void> {
  const lists = DESTRUCTIVE_KINDS.flatMap((kind) =>
    ['guardUsed', 'guardApproved'].map((family) => keys.key(family, `main:${kind}`)),
  );
  for (const list of lists) {
    const timed = await redis.zrange(list, '0', '-1', 'WITHSCORES');
    for (let index = 0; index < timed.length; index += 2) {
      await redis.zadd(list, Number(timed[index + 1]) - ms, timed[index] ?? '');
    }
  }
  const approval = keys.key('guardApproval', 'main');
  if ((await redis.exists(approval)) === 1) await redis.hincrby(approval, 'expires', -ms);
}

export interface GuardRig {
  store: Store;
  guardStore: GuardStore;
  /** The same guard on a separate Redis connection. */
  rival: GuardStore;
  /** Ends a sync of the ref for the guard, under a lease. */
  endSync: (ref: Ref, refused: Destruction[]) => Promise<number>;
  /** Returns the refs of the changes that are held. */
  heldRefs: () => Promise<Ref[]>;
  /** Decides about the open approval, or about the changes of `refs` in it. */
  decide: (action: 'approve' | 'reject', refs?: Ref[]) => ReturnType<GuardStore['decide']>;
}

/** Opens a store before each test, and closes it after the test. The returned rig is filled before the test begins. */
export function useGuardRig(): GuardRig {
  const rig = {
    endSync: async (ref, refused) => {
      const { keys, redis } = rig.store;
      const lease = keys.key('lease', `main:${ref}`);
      await redis.set(lease, '1');
      const ended = await rig.guardStore.endSync({ ref, fence: '1' }, refused);
      await redis.del(lease);
      return ended;
    },
    heldRefs: async () => {
      const open = await rig.guardStore.open();
      const refs: Ref[] = [];
      if (open) for await (const page of rig.guardStore.pages(open)) refs.push(...page.map(({ ref }) => ref));
      return refs;
    },
    decide: async (action, refs) =>
      rig.guardStore.decide(action, (await rig.guardStore.open())?.id ?? '', 'ops', {
        ...(refs ? { choose: (page: Destruction[]) => page.filter(({ ref }) => refs.includes(ref)) } : {}),
      }),
  } as GuardRig;
  beforeEach(async () => {
    rig.store = await openStore();
    rig.guardStore = rig.store.outbox.guardStore;
    const other = rig.store.rival.outboxes.get('main');
    if (!other) throw new Error('the second connection has no outbox');
    rig.rival = other.guardStore;
  });
  afterEach(() => rig.store.close());
  return rig;
}
