// Tests that a new user takes over the account of a former one, and a new group the former group, when the process is killed
// after any write to Redis. Uses the real sync and a platform in memory.
import type { Outbox } from '../../../src/directory/outbox/outbox.ts';
import { add, idOf } from '../lua/rig.ts';
import { Crash } from './fake-platform.ts';
import { openFixture, type SyncFixture } from './workers.ts';

const ADA = idOf('ada');
const BOB = idOf('bob');
const G = idOf('group');
const H = idOf('other');

let fixture: SyncFixture;
afterEach(() => fixture.close());

/** After this number of writes to Redis each further write ends the sync, like a kill of the process, until `revive`. */
function killAfter(outbox: Outbox, writes: number) {
  const original = { ...outbox };
  let writesDone = 0;
  const counted =
    <A extends unknown[], R>(run: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (writesDone === writes) throw new Crash();
      writesDone++;
      return run(...args);
    };
  outbox.save = counted(original.save);
  outbox.ack = counted(original.ack);
  outbox.ackMembers = counted(original.ackMembers);
  outbox.forgetLink = counted(original.forgetLink);
  outbox.inheritRemovals = counted(original.inheritRemovals);
  return { revive: () => void Object.assign(outbox, original), isKilled: () => writesDone === writes };
}

/**
 * Runs `prepare`, a sync that is killed after a number of writes, the syncs that repair this, and `check`: once for each number,
 * the last time without a kill.
 * @returns the number of runs with a kill
 */
async function atEachKill(prepare: () => Promise<void>, check: () => Promise<void>): Promise<number> {
  for (let writes = 0; ; writes++) {
    // The policy leaves deleted users and groups at the platform, and only accounts that the bridge created are adopted.
    fixture = await openFixture({ policy: 'upsert-only', adopt: 'never' });
    await prepare();
    const [worker] = fixture.workers;
    const { revive, isKilled } = killAfter(fixture.store.outbox, writes);
    await worker?.start();
    while (worker?.busy()) await worker.advance();
    revive();
    const wasKilled = isKilled();
    await fixture.drain();
    await check();
    if (!wasKilled) return writes;
    await fixture.close();
  }
}

const linkOf = (ref: `User:${string}` | `Group:${string}`) => fixture.store.state.links.get('main', ref);

it('a new group takes over the platform group of a deleted group with the same name, at whichever step the process is killed', async () => {
  const kills = await atEachKill(
    async () => {
      await fixture.store.putUser(ADA, { userName: 'ada' });
      await fixture.store.putGroup(G, 'Sales', [add(ADA)]);
      await fixture.drain();
      await fixture.store.remove('Group', G);
      await fixture.drain();
      await fixture.store.putGroup(H, 'Sales', [add(ADA)]);
    },
    async () => {
      expect([...fixture.platform.groups.values()]).toMatchObject([{ displayName: 'Sales' }]);
      await expect(linkOf(`Group:${H}`)).resolves.toMatchObject({
        id: expect.any(String),
        origin: 'created',
      });
      await expect(linkOf(`Group:${H}`)).resolves.not.toHaveProperty('condition');
      await expect(linkOf(`Group:${G}`)).resolves.not.toHaveProperty('id');
      await expect(fixture.store.outbox.blocked()).resolves.toEqual([]);
    },
  );
  expect(kills).toBeGreaterThan(2);
});

it("a new hire with the userName of a leaver gets the leaver's account, at whichever step the process is killed", async () => {
  const kills = await atEachKill(
    async () => {
      await fixture.store.putUser(ADA, { userName: 'ada', externalId: 'x-ada' });
      await fixture.drain();
      await fixture.store.remove('User', ADA);
      await fixture.drain();
      await fixture.store.putUser(BOB, { userName: 'ada', externalId: 'x-bob' });
    },
    async () => {
      expect(fixture.platform.users.size).toBe(1);
      await expect(linkOf(`User:${BOB}`)).resolves.toMatchObject({
        id: expect.any(String),
        core: { externalId: 'x-bob' },
      });
      await expect(linkOf(`User:${ADA}`)).resolves.not.toHaveProperty('id');
      await expect(fixture.store.outbox.blocked()).resolves.toEqual([]);
    },
  );
  expect(kills).toBeGreaterThan(2);
});
