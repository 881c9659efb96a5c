// Tests that a first approval which is stored while others are read and judged is not deleted with the expired ones.
import { createFirstApprovals } from '../../../src/directory/guard/first-approvals.ts';
import { openStores } from './rig.ts';

const open = openStores();

test('an expired first approval is replaced by a new one while the list is judged → the new one stays', async () => {
  const { redis, scripts, keys } = await open();
  const name = keys.key('guardFirst', 'main');
  const approval = (serial: number, at: number, by: string) =>
    JSON.stringify({
      by,
      identity: by,
      id: `main.${serial}-1`,
      serial,
      source: 'guardRejected',
      at,
      total: 1,
    });
  const [former, other] = ['guardRejected main.1-1', 'guardRejected main.2-1'];
  await redis.hset(name, former, approval(1, 0, 'anna'), other, approval(2, Date.now(), 'anna'));
  const renewed = approval(1, Date.now(), 'bob');
  const held = {
    countOf: () => Promise.resolve({ total: 1 }),
    stillIn: () => Promise.resolve([]),
    rejectedListOf: async () => {
      await redis.hset(name, former, renewed);
      return { source: 'guardRejected', serial: 2, upTo: 1 };
    },
  } as unknown as Parameters<typeof createFirstApprovals>[2];
  const { list } = createFirstApprovals(
    { redis, scripts, keys },
    { target: 'main', expiryMs: 3_600_000 },
    held,
  );
  expect((await list()).map(({ field }) => field)).toEqual([other]);
  expect(await redis.hget(name, former)).toBe(renewed);
  expect((await list()).map(({ by }) => by).toSorted()).toEqual(['anna', 'bob']);
});
