// Tests the guard between two steps of a sync, and unmanaged members.
import type { SyncPolicy } from '../../../src/sync/target.ts';
import { add, idOf } from '../lua/rig.ts';
import { INTERRUPTIONS } from './fake-platform.ts';
import { GENEROUS, openFixture, type SyncFixture } from './workers.ts';

const ADA = idOf('ada');
const G = idOf('group');

describe('the guard while a sync runs', () => {
  let fixture: SyncFixture;
  afterEach(() => fixture.close());

  const put = (active: boolean) =>
    fixture.store.putUser(
      ADA,
      { userName: 'ada', externalId: 'x-ada', active },
      active ? 'edit' : 'deactivation',
    );
  const isActive = () => [...fixture.platform.users.values()].some(({ active }) => active);

  it.each(INTERRUPTIONS)(
    'a deactivation with one call %s counts once for the guard, with or without an approval, and the account is deactivated',
    async (_words, outcome) => {
      // The first guard allows one deactivation; the second holds it until an approval.
      for (const deactivate of [
        { count: 1, percent: 100 },
        { count: 0, percent: 100 },
      ]) {
        fixture = await openFixture({ guard: { ...GENEROUS, deactivate } });
        const { guardStore } = fixture.store.outbox;
        await put(true);
        await fixture.drain();
        await put(false);
        if (deactivate.count === 0) {
          await fixture.drain();
          expect(isActive()).toBe(true);
          await guardStore.decide('approve', (await guardStore.open())?.id ?? '', 'ops');
        }
        const [first] = fixture.workers;
        await first?.start();
        await first?.advance(outcome);
        await fixture.drain();
        expect(isActive()).toBe(false);
        const { used, held, approved, waiting } = (await guardStore.counts(GENEROUS.windowMs)).kinds
          .deactivate;
        expect([used, held, approved, waiting]).toEqual([deactivate.count, 0, 0, 0]);
        if (deactivate.count > 0) await fixture.close();
      }
    },
  );

  /** Adds a member at the platform by hand, whose removal a reconcile orders. @returns whether the member is still there */
  const keepsMemberByHand = async (policy: Partial<SyncPolicy>) => {
    fixture = await openFixture(policy);
    await put(true);
    await fixture.store.putGroup(G, 'Sales', [add(ADA)]);
    await fixture.drain();
    const { users, groups } = fixture.platform;
    users.set('99', {
      id: '99',
      userName: 'by-hand',
      externalId: null,
      active: true,
      attributes: new Map(),
      created: '2026-01-01T00:00:00Z',
    });
    const [group] = groups.values();
    group?.members.add('99');
    // A reconcile stores the removal (`-`) of an unmanaged member in this form.
    await fixture.store.redis.hset(fixture.store.keys.key('pendingMembers', `main:${G}`), '@99', '-');
    await fixture.store.outbox.mark([`Group:${G}`], 'reconcile');
    await fixture.drain();
    await expect(fixture.store.outbox.pendingMembers(G)).resolves.toEqual(new Map());
    return [...(group?.members ?? [])].includes('99');
  };
  it('a member added at the platform by hand is removed under groups.members: authoritative', async () => {
    await expect(keepsMemberByHand({ groups: { members: 'authoritative' } })).resolves.toBe(false);
  });

  it('a member added at the platform by hand is kept under groups.members: owned', async () => {
    await expect(keepsMemberByHand({})).resolves.toBe(true);
  });

  it('a protected member added at the platform by hand is kept under groups.members: authoritative', async () => {
    const users = { deprovision: 'deactivate', activation: 'safe', deleteAfterDays: null } as const;
    const policy = {
      groups: { members: 'authoritative' as const },
      users: { ...users, protected: ['By-Hand'] },
    };
    await expect(keepsMemberByHand(policy)).resolves.toBe(true);
  });
});
