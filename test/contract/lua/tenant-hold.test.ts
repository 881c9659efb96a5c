// Tests that a hold because of another tenant, which one connection has, stops the syncs of another connection of the same target
// (ADR 0022).
import { TENANT_HOLDER } from '../../../src/directory/guard/operator-hold.ts';
import type { GuardStore } from '../../../src/directory/guard/guard-store.ts';
import { createDesiredState } from '../../../src/directory/desired-state.ts';
import type { Ref } from '../../../src/directory/records.ts';
import { silentLogger } from '../../../src/support/logger.ts';
import { systemClock } from '../../../src/support/sources.ts';
import { syncResource } from '../../../src/sync/sync-resource.ts';
import { idOf, openStore, type Store } from './rig.ts';

let store: Store;
/** Of the other connection. */
let elsewhere: GuardStore;
beforeEach(async () => {
  store = await openStore({ others: ['hr'] });
  const hr = createDesiredState(store, {
    prefix: store.prefix,
    connection: 'hr',
    targets: ['main'],
    addressOf: () => 'https://platform.example.com',
    rulesReadGroups: false,
    leaseMs: 5000,
    othersOf: () => ['idp'],
  });
  elsewhere = hr.outboxes.get('main')?.guardStore as GuardStore;
  await store.putUser(idOf('ada'), { userName: 'ada' });
});
afterEach(() => store.close());
const ref: Ref = `User:${idOf('ada')}`;
const WHY = 'hr: 3 of 3 linked accounts belong to other people there';
const holdElsewhere = () => elsewhere.beginTenantHold(WHY);

it('when one connection holds a target because of a doubted tenant, the other connection is on hold too until this hold ends', async () => {
  const { guardStore, whyUnrecognised } = store.outbox;
  await holdElsewhere();
  await expect(store.claimRefs()).resolves.toEqual([]);
  await expect(guardStore.onHold()).resolves.toMatchObject({ by: TENANT_HOLDER, note: WHY });
  await expect(whyUnrecognised()).resolves.toBe('tenant');
  await elsewhere.endTenantHold();
  await expect(guardStore.onHold()).resolves.toBeUndefined();
  await expect(whyUnrecognised()).resolves.toBeUndefined();
  await expect(store.claimRefs()).resolves.toEqual([ref]);
});

it("an operator's hold at one connection does not stop the marks of another, and outlasts a hold because of a doubted tenant", async () => {
  await elsewhere.hold('olga', 'audit');
  await expect(store.claimRefs()).resolves.toEqual([ref]);
  const { guardStore } = store.outbox;
  await guardStore.hold('ivan', 'upgrade');
  await holdElsewhere();
  await expect(guardStore.onHold()).resolves.toMatchObject({ by: TENANT_HOLDER });
  await elsewhere.endTenantHold();
  await expect(guardStore.onHold()).resolves.toMatchObject({ by: 'ivan' });
  await expect(elsewhere.onHold()).resolves.toMatchObject({ by: 'olga' });
});

it('when one connection holds a target because of a doubted tenant, the next save of a running sync of another connection fails', async () => {
  await store.claimRefs();
  const work = await store.begun(ref);
  await holdElsewhere();
  await expect(store.outbox.save(work, {})).rejects.toThrow(/lost the lease/);
});

it('a mark delivered before a hold because of a doubted tenant is not synced during the hold, and is delivered again afterwards', async () => {
  await store.claimRefs();
  await holdElsewhere();
  // Without a client every call would fail.
  const target = { name: 'main', policy: {}, mapping: {}, guard: {} } as never;
  const handovers = { heads: () => Promise.resolve(new Map()) };
  const deps = {
    ...store.state,
    outbox: store.outbox,
    handovers,
    target,
    clock: systemClock,
    logger: silentLogger,
  };
  await syncResource({ ...deps, random: Math.random }, ref, 'edit', new AbortController().signal);
  await expect(store.outbox.isMarked(ref)).resolves.toBe(true);
  await elsewhere.endTenantHold();
  await expect(store.claimRefs()).resolves.toEqual([ref]);
  await expect(store.begun(ref)).resolves.toMatchObject({ ref });
});
