// Tests when the owner of a target's API key is known, while the platform is slow, fails, or the key is replaced.
import { PlatformResponse, PlatformTimeout } from '../../../src/platform/errors.ts';
import type { CallOptions } from '../../../src/platform/client.ts';
import type { ConsoleUser } from '../../../src/platform/wire.ts';
import type { Clock } from '../../../src/support/sources.ts';
import { createKeyOwner } from '../../../src/sync/calls/key-owner.ts';

const CALL = { method: 'GET', route: '/api/v1/users/me' };
const timedOut = () => new PlatformTimeout(15_000, { ...CALL, mayHaveCommitted: false });
const never = new AbortController().signal;
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Asked {
  tell(username: string, isAdmin?: boolean): Promise<void>;
  fail(error: Error): Promise<void>;
  call: CallOptions;
}

/** A platform whose answers the test gives, and a clock that moves by its sleeps. */
function world() {
  let now = 1_000_000;
  let key = 'first';
  const asked: Asked[] = [];
  const clock: Clock = {
    now: () => now,
    sleep: async (ms, signal) => {
      const until = now + ms;
      while (now < until && !signal?.aborted) await tick();
    },
  };
  const me = (call: CallOptions = {}): Promise<ConsoleUser> =>
    new Promise((resolve, reject) => {
      const after = async (end: () => void): Promise<void> => {
        end();
        await tick();
      };
      asked.push({
        call,
        tell: (username, isAdmin = false) =>
          after(() => resolve({ id: '1', username, email: username, isAdmin })),
        fail: (error) => after(() => reject(error)),
      });
      call.signal?.addEventListener('abort', () => reject(call.signal?.reason as Error));
    });
  const owner = createKeyOwner({ client: { accounts: { me } } as never, clock, key: () => key });
  return {
    owner,
    asked,
    pass: async (ms: number) => {
      now += ms;
      await tick();
      await tick();
    },
    replaceKey: (next: string) => void (key = next),
  };
}

test('the platform names the key owner after a sync has stopped waiting → later syncs know the owner without a further read', async () => {
  const { owner, asked, pass } = world();
  const first = owner.seeKeyOwner();
  await pass(2000);
  await first;
  expect(owner.knownKeyOwner()).toBeUndefined();
  // This sync does not wait once more for the same read.
  await owner.seeKeyOwner();
  await asked[0]?.tell('Ann');
  expect([owner.knownKeyOwner(), asked.length]).toEqual(['ann', 1]);
});

test('a caller stops waiting for the key owner → the read goes on for another caller, and later callers can read the owner', async () => {
  const { owner, asked } = world();
  const leaves = new AbortController();
  const left = owner.keyOwner(leaves.signal);
  const stays = owner.keyOwner(never);
  leaves.abort(new Error('enough'));
  await expect(left).rejects.toThrow('aborted');
  await asked[0]?.tell('ann');
  await expect(stays).resolves.toBe('ann');

  const alone = world();
  const only = new AbortController();
  const ended = alone.owner.keyOwner(only.signal);
  only.abort(new Error('enough'));
  await expect(ended).rejects.toThrow('aborted');
  expect(alone.asked[0]?.call.signal?.aborted).toBe(true);
  const seen = alone.owner.seeKeyOwner();
  await alone.asked[1]?.tell('ann');
  await seen;
  expect(alone.owner.knownKeyOwner()).toBe('ann');
});

test('a read of the key owner fails → syncs of linked accounts do not wait for another read, and a call that needs the owner reads again after a second', async () => {
  const { owner, asked, pass } = world();
  const first = owner.keyOwner(never);
  await asked[0]?.fail(timedOut());
  await expect(first).rejects.toThrow(PlatformTimeout);
  await owner.seeKeyOwner();
  await expect(owner.keyOwner(never)).rejects.toThrow(PlatformTimeout);
  expect(asked).toHaveLength(1);
  await pass(1001);
  const again = owner.keyOwner(never);
  await asked[1]?.tell('ann');
  await expect(again).resolves.toBe('ann');
});

test('a read of the key owner fails after ten seconds → calls of the next ten seconds get its error without another read', async () => {
  const { owner, asked, pass } = world();
  const first = owner.keyOwner(never);
  await pass(10_000);
  await asked[0]?.fail(timedOut());
  await expect(first).rejects.toThrow(PlatformTimeout);
  await pass(10_000);
  await expect(owner.keyOwner(never)).rejects.toThrow(PlatformTimeout);
  expect(asked).toHaveLength(1);
  await pass(1);
  const again = owner.keyOwner(never);
  await asked[1]?.tell('ann');
  await expect(again).resolves.toBe('ann');
});

test('the key is replaced → its former owner stays protected until the platform names the owner of the new key', async () => {
  const { owner, asked, pass, replaceKey } = world();
  const first = owner.keyOwner(never);
  await asked[0]?.tell('ann', true);
  await first;
  expect(await owner.isOwnedByAdministrator()).toBe(true);
  replaceKey('second');
  const seen = owner.seeKeyOwner();
  await asked[1]?.fail(timedOut());
  await seen;
  expect([owner.knownKeyOwner(), owner.isKeyOwnerTold()]).toEqual(['ann', false]);
  expect(await owner.isOwnedByAdministrator()).toBe(false);
  await pass(30_001);
  const retried = owner.seeKeyOwner();
  await asked[2]?.tell('bob');
  await retried;
  expect([owner.knownKeyOwner(), owner.isKeyOwnerTold()]).toEqual(['bob', true]);
});

test('a key has no owner → the owner is not read again for ten minutes, and a late answer about the former key is ignored', async () => {
  const { owner, asked, pass, replaceKey } = world();
  const late = owner.keyOwner(never);
  replaceKey('second');
  const present = owner.keyOwner(never);
  await asked[1]?.fail(new PlatformResponse({ status: 404, platformMessage: 'none' }, CALL));
  await expect(present).resolves.toBeUndefined();
  await asked[0]?.tell('ann');
  await late;
  expect(owner.knownKeyOwner()).toBeUndefined();
  await pass(600_000);
  await owner.seeKeyOwner();
  expect(asked).toHaveLength(2);
  await pass(1);
  const seen = owner.seeKeyOwner();
  expect(asked).toHaveLength(3);
  await pass(2000);
  await seen;
});
