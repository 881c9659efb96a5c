// Tests the list of waiting resources while a resource goes from the queue back to the outbox between the reads of Redis.
import { readWaiting } from '../../src/directory/outbox/waiting.ts';
import { ADMIN_TOKEN } from '../support/build-bridge.ts';
import { openPlace, type Place } from '../support/situation.ts';

let place: Place;
beforeAll(async () => {
  place = await openPlace({ roles: ['api'] });
  await place.idp.createUser('ann@acme.example');
}, 60_000);
afterAll(() => place.stop());

async function waiting(query: string): Promise<{ ref: string }[]> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const answer = await fetch(`http://127.0.0.1:${place.port}/admin/v1/waiting${query}`, { headers });
  return (await answer.json()) as { ref: string }[];
}

test('a resource leaves the queue list while the waiting resources are read → it is listed once', async () => {
  const dirty = await place.key(':dirty:main');
  const inflight = dirty.replace(':dirty:', ':inflight:');
  const [ref = ''] = await place.redis.zrange(dirty, '0', '-1');
  await place.redis.zadd(inflight, Date.now(), ref);
  const keys = {
    key: (family: string, target: string) => dirty.replace(':dirty:main', `:${family}:${target}`),
  };
  const redis = new Proxy(place.redis, {
    get(client, name) {
      if (name !== 'zinter') return Reflect.get(client, name).bind(client);
      return async (...args: [number, ...string[]]) => {
        await client.zrem(inflight, ref);
        return client.zinter(...args);
      };
    },
  });
  const listed = await readWaiting({ redis, keys } as any, 'main', { offset: 0, limit: 10 });
  expect(listed.map((each) => each.ref)).toEqual([ref]);
});

test('resources were changed again during their sync → the pages of waiting resources are full and list each once', async () => {
  for (let n = 0; n < 8; n++) await place.idp.createUser(`p${n}@acme.example`);
  const dirty = await place.key(':dirty:main');
  const refs = await place.redis.zrange(dirty, '0', '-1');
  // In the queue: one resource that was not changed again, and three that were, two of them one after the other.
  const [only = '', , first = '', second = '', , third = ''] = refs;
  await place.redis.zadd(dirty.replace(':dirty:', ':inflight:'), 1, first, 2, second, 3, third, 4, only);
  await place.redis.zrem(dirty, only);
  const whole = await waiting('?limit=100');
  expect(whole.map(({ ref }) => ref).sort()).toEqual([...refs].sort());
  for (const size of [1, 2, 3, 5]) {
    const paged = [];
    for (let offset = 0; offset < refs.length; offset += size) {
      const page = await waiting(`?limit=${size}&offset=${offset}`);
      expect(page).toHaveLength(Math.min(size, refs.length - offset));
      paged.push(...page);
    }
    expect(paged).toEqual(whole);
  }
});
