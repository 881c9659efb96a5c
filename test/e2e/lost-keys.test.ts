// Tests random losses of derived data during pushes: after one repair and one reconcile every user is as desired.
// LOST_KEYS_SEEDS=50 runs more seeds.
import type { Redis } from 'ioredis';
import { openDesiredStates } from '../../src/app/open.ts';
import { createKeyspace } from '../../src/directory/keys.ts';
import { buildBridge } from '../support/build-bridge.ts';
import { createCompany, createRandom, companyAttributes } from '../support/company.ts';
import { openReconciling } from '../support/reconciling.ts';

const SEEDS = Array.from({ length: Number(process.env.LOST_KEYS_SEEDS ?? 3) }, (_, index) => index + 1);
const EVENTS = 25;

/**
 * Keys that the identity provider or an operator wrote; all other keys are derived, or describe only the current
 * moment.
 */
const KEPT =
  /^(users|groups|tombstones|members:.*|unresolved:.*|gone:.*|sequence|acts\w*|log\w*:.*|tokens|tokenUses|hold:.*|run:.*|reconcile:.*|lease:.*)$/;
/** Without these keys and without its mark, the account of a deleted user cannot be found. */
const LINKS = /^(links|linked):/;

async function derivedKeys(redis: Redis, base: string): Promise<string[]> {
  const names: string[] = [];
  let cursor = '0';
  do {
    const [next, found] = await redis.scan(cursor, 'MATCH', `${base}*`, 'COUNT', 500);
    cursor = next;
    names.push(...found);
  } while (cursor !== '0');
  return names.filter((name) => !KEPT.test(name.slice(base.length))).sort();
}

/** Deletes a key, or a random share of its fields. */
async function damage(redis: Redis, name: string, random: () => number): Promise<void> {
  if (random() < 0.5) {
    await redis.del(name);
    return;
  }
  const type = await redis.type(name);
  const some = (fields: string[]): string[] => fields.filter(() => random() < 0.4);
  if (type === 'hash') {
    const fields = some(await redis.hkeys(name));
    if (fields.length > 0) await redis.hdel(name, ...fields);
  } else if (type === 'zset') {
    const members = some(await redis.zrange(name, '0', '-1'));
    if (members.length > 0) await redis.zrem(name, ...members);
  } else if (type === 'set') {
    const members = some(await redis.smembers(name));
    if (members.length > 0) await redis.srem(name, ...members);
  } else await redis.del(name);
}

test.each(SEEDS)(
  'random keys of Redis are lost → a reconcile makes the platform equal to the desired state (seed %i)',
  async (seed) => {
    const random = createRandom(seed * 7919);
    const bridge = await buildBridge({
      configure: ({ targets }) => {
        const { main } = targets;
        Object.assign(main?.attributes ?? {}, companyAttributes, {
          teams: { type: 'string_array', expression: 'groups.display', onEmpty: 'clear' },
        });
        const unlimited = { count: 100_000, percent: 100 };
        if (main) {
          Object.assign(main.guard, { deactivate: unlimited, delete: unlimited });
          Object.assign(main.guard, { removeMembers: unlimited, clearAttributes: unlimited });
        }
      },
    });
    const rec = await openReconciling(bridge);
    const { redis, states } = openDesiredStates(bridge.config);
    const { base } = createKeyspace(bridge.config.redis.prefix, 'default');
    const company = createCompany(bridge.idp, random);
    const lose = async (isAllowed: (family: string) => boolean): Promise<string[]> => {
      const names = await derivedKeys(redis, base);
      const lost = names.filter((name) => isAllowed(name.slice(base.length)) && random() < 0.25);
      for (const name of lost) await damage(redis, name, random);
      return lost.map((name) => name.slice(base.length));
    };
    try {
      for (let n = 0; n < 10; n++) await company.hire();
      for (let n = 0; n < 3; n++) await company.createTeam();
      await rec.untilSynced();
      // Keys are deleted while pushes and syncs run.
      const lost: string[] = [];
      for (let n = 0; n < EVENTS; n++) {
        await company.live();
        if (random() < 0.15) lost.push(...(await lose((family) => !LINKS.test(family))));
      }
      const repair = () => states[0]?.proof.run({ repair: true, request: 'repair' });
      await repair();
      await expect(rec.run()).resolves.toMatchObject({ report: { outcome: 'converged' } });
      await rec.untilSynced();
      expect({ lost, differences: await company.differences(bridge.platform) }).toEqual({
        lost,
        differences: [],
      });
      // Links are deleted while nothing runs.
      lost.push(...(await lose(() => true)));
      await repair();
      await expect(rec.run()).resolves.toMatchObject({
        report: { outcome: 'converged', coverage: { users: { missing: 0 }, groups: { missing: 0 } } },
      });
      await rec.untilSynced();
      expect({ lost, differences: await company.differences(bridge.platform) }).toEqual({
        lost,
        differences: [],
      });
      await bridge.platform.forgetRequests();
      await expect(rec.run()).resolves.toMatchObject({ report: { outcome: 'converged' } });
      await rec.untilSynced();
      await expect(bridge.platform.writes()).resolves.toEqual([]);
    } finally {
      redis.disconnect();
      await rec.stop();
      await bridge.stop();
    }
  },
  120_000,
);
