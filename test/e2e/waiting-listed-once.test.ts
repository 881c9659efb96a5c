// Tests the list of waiting resources while a resource goes from the queue back to the outbox between the reads of Redis.
import { readWaiting } from '../../src/directory/outbox/waiting.ts';
import { openPlace, type Place } from '../support/situation.ts';

let place: Place;
beforeAll(async () => {
  place = await openPlace({ roles: ['api'] });
  await place.idp.createUser('ann@acme.example');
}, 60_000);
afterAll(() => place.stop());

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
      if (name !== 'zmscore') return Reflect.get(client, name).bind(client);
      return async (key: string, ...members: string[]) => {
        await client.zrem(inflight, ref);
        return client.zmscore(key, ...members);
      };
    },
  });
  const listed = await readWaiting({ redis, keys } as any, 'main', { offset: 0, limit: 10 });
  expect(listed.map((each) => each.ref)).toEqual([ref]);
});
