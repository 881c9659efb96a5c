// Tests deactivations that are accepted and not applied yet, and the hold of a target by an operator (ADR 0011).
import { TENANT_HOLDER } from '../../../src/directory/guard/operator-hold.ts';
import type { Ref } from '../../../src/directory/records.ts';
import { holdTargets, releaseTargets } from '../../../src/ops/hold.ts';
import { guard, HOUR, range } from './guard-rig.ts';
import { idOf, openStore, type Store } from './rig.ts';

describe('deactivations that the directory has accepted', () => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore();
  });
  afterEach(() => store.close());

  const waiting = async () => (await store.outbox.guardStore.counts(HOUR)).kinds.deactivate.waiting;
  const syncedUser = async (name: string, core: object = { active: true }): Promise<Ref> => {
    const ref: Ref = `User:${idOf(name)}`;
    await store.putUser(idOf(name), { userName: name });
    await store.claimRefs();
    const work = await store.begun(ref);
    const link = { id: `p-${name}`, core: core as Record<string, boolean> };
    await store.outbox.ack(work, link, { kind: 'synced' });
    return ref;
  };

  it('the guard counts the deactivation of a user as waiting from its push until a sync has applied it', async () => {
    const ref = await syncedUser('ada');
    await store.putUser(idOf('ada'), { userName: 'ada', active: false }, 'deactivation');
    await expect(waiting()).resolves.toBe(1);
    await store.claimRefs();
    await store.outbox.ack(await store.begun(ref), {}, { kind: 'synced' });
    await expect(waiting()).resolves.toBe(0);
  });

  it('the guard counts the deletion of a user as a waiting deactivation only if the user has an active account', async () => {
    await syncedUser('ada', { active: false });
    await store.remove('User', idOf('ada'));
    await store.putUser(idOf('bob'), { userName: 'bob' });
    await store.remove('User', idOf('bob'));
    await expect(waiting()).resolves.toBe(0);
    await syncedUser('eve');
    await store.remove('User', idOf('eve'));
    await expect(waiting()).resolves.toBe(1);
  });

  it('when 12 deactivations wait and the guard allows 11, the first of them that is synced is held', async () => {
    const refs: Ref[] = [];
    for (const number of range(0, 12)) refs.push(await syncedUser(`p${number}-`));
    for (const number of range(0, 12)) await store.remove('User', idOf(`p${number}-`));
    const settings = guard(11);
    const { guardStore } = store.outbox;
    await expect(guardStore.take([{ kind: 'deactivate', ref: refs[0] as Ref }], settings)).resolves.toEqual([
      'held',
    ]);
    await expect(guardStore.take([{ kind: 'deactivate', ref: refs[1] as Ref }], settings)).resolves.toEqual([
      'held',
    ]);
    await expect(waiting()).resolves.toBe(10);
  });

  it('a deactivation that the guard has counted is not counted again when the source takes it back and repeats it', async () => {
    const ref = await syncedUser('ada');
    await store.putUser(idOf('ada'), { userName: 'ada', active: false }, 'deactivation');
    await store.outbox.guardStore.take([{ kind: 'deactivate', ref }], guard(11));
    await store.putUser(idOf('ada'), { userName: 'ada' });
    await store.putUser(idOf('ada'), { userName: 'ada', active: false }, 'deactivation');
    const { used, waiting } = (await store.outbox.guardStore.counts(HOUR)).kinds.deactivate;
    expect({ used, waiting }).toEqual({ used: 1, waiting: 0 });
  });

  describe('decisionsOfMembers()', () => {
    let ada: Ref;
    beforeEach(async () => {
      ada = await syncedUser('ada');
    });
    const decision = async () => (await store.outbox.guardStore.decisionsOfMembers([idOf('ada')]))[0];
    const hold = () => store.outbox.guardStore.take([{ kind: 'deactivate', ref: ada }], guard(0));

    it('decisionsOfMembers() returns `alone` for a member whom the source neither deactivates nor deletes', async () => {
      await expect(decision()).resolves.toBe('alone');
    });

    it('decisionsOfMembers() returns `waits` for a deactivated member until a sync asks the guard', async () => {
      await store.putUser(idOf('ada'), { userName: 'ada', active: false }, 'deactivation');
      await expect(decision()).resolves.toBe('waits');
    });

    it('decisionsOfMembers() returns `waits` for a deleted member until a sync asks the guard', async () => {
      await store.remove('User', idOf('ada'));
      await expect(decision()).resolves.toBe('waits');
    });

    it('decisionsOfMembers() returns `follows` for a deleted member while the guard holds the deactivation of the account', async () => {
      await store.remove('User', idOf('ada'));
      await hold();
      await expect(decision()).resolves.toBe('follows');
    });

    it('decisionsOfMembers() returns `rejected` for a deleted member after an operator rejected the deactivation of the account', async () => {
      const { guardStore } = store.outbox;
      await store.remove('User', idOf('ada'));
      await hold();
      await guardStore.decide('reject', (await guardStore.open())?.id ?? '', 'ops');
      await expect(decision()).resolves.toBe('rejected');
    });
  });

  it('decisionsOfMembers() returns the decisions in the order of the users', async () => {
    await syncedUser('ada');
    await syncedUser('bob');
    await store.remove('User', idOf('bob'));
    const { guardStore } = store.outbox;
    await expect(guardStore.decisionsOfMembers([idOf('bob'), idOf('ada')])).resolves.toEqual([
      'waits',
      'alone',
    ]);
  });
});

describe('hold and release of a target', () => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore();
    await store.putUser(idOf('ada'), { userName: 'ada' });
  });
  afterEach(() => store.close());
  const ref: Ref = `User:${idOf('ada')}`;

  it('while a target is on hold no mark is delivered, and a sync of a delivered mark cannot begin; after the release the mark is delivered again', async () => {
    const { guardStore } = store.outbox;
    await store.claimRefs();
    await expect(guardStore.hold('ops', 'migration')).resolves.toBe(true);
    await expect(guardStore.hold('ops')).resolves.toBe(false);
    await expect(guardStore.onHold()).resolves.toMatchObject({ by: 'ops', note: 'migration' });
    await expect(store.outbox.begin(ref, 'edit')).resolves.toEqual({ kind: 'busy' });
    await expect(store.claimRefs()).resolves.toEqual([]);
    await expect(guardStore.release()).resolves.toBe(true);
    await expect(guardStore.release()).resolves.toBe(false);
    await expect(store.claimRefs()).resolves.toEqual([ref]);
  });

  it('a hold makes the next save of a running sync fail with a lost lease', async () => {
    await store.claimRefs();
    const work = await store.begun(ref);
    await store.outbox.guardStore.hold('ops');
    await expect(store.outbox.save(work, {})).rejects.toThrow(/lost the lease/);
  });

  it("when a doubt about the tenant holds the target during an operator's release, the release is refused and the operator's hold stays", async () => {
    const { guardStore } = store.outbox;
    await guardStore.hold('olga', 'audit');
    const { acts } = store.state;
    // The release writes its audit entry between its look at the hold and the end of the hold.
    const record: typeof acts.record = async (act) => {
      await guardStore.beginTenantHold('main may be another tenant');
      return acts.record(act);
    };
    const states = [{ ...store.state, acts: { ...acts, record } }];
    await expect(releaseTargets(states, 'main', { by: 'olga', via: 'command' })).resolves.toMatchObject([
      { changed: false, refused: expect.stringContaining('may be another tenant') },
    ]);
    await expect(guardStore.onHold()).resolves.toMatchObject({ by: TENANT_HOLDER });
    await expect(store.claimRefs()).resolves.toEqual([]);
    await guardStore.endTenantHold();
    await expect(guardStore.onHold()).resolves.toMatchObject({ by: 'olga', note: 'audit' });
  });

  it("when an operator holds a target at the moment a hold because of a doubted tenant ends, the operator's hold stays until its release", async () => {
    const { guardStore } = store.outbox;
    await guardStore.beginTenantHold('main may be another tenant');
    await Promise.all([guardStore.endTenantHold(), guardStore.hold('olga', 'audit')]);
    await expect(guardStore.onHold()).resolves.toMatchObject({ by: 'olga', note: 'audit' });
    await expect(store.claimRefs()).resolves.toEqual([]);
    await expect(guardStore.release()).resolves.toBe(true);
    await expect(store.claimRefs()).resolves.toEqual([ref]);
  });

  it.each(['reconcile', 'scim-bridge'])(
    'when an operator called "%s" holds a target, the end of a tenant\'s hold leaves the order in force, and a release ends it',
    async (by) => {
      const { guardStore } = store.outbox;
      const actor = { by, via: 'command', note: 'audit' } as const;
      await expect(holdTargets([store.state], 'main', actor)).resolves.toMatchObject([{ changed: true }]);
      await guardStore.endTenantHold();
      await expect(store.claimRefs()).resolves.toEqual([]);
      await expect(guardStore.operatorHold()).resolves.toEqual({ by: `${by} (operator)`, note: 'audit' });
      await expect(guardStore.onHold()).resolves.toMatchObject({ by: `${by} (operator)` });
      await expect(releaseTargets([store.state], 'main', actor)).resolves.toMatchObject([{ changed: true }]);
      await expect(store.claimRefs()).resolves.toEqual([ref]);
    },
  );
});
