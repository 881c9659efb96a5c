// Tests lists of groups with very many members, and of values that very many users share: the answer is a page or a clear error,
// and only what a page can hold is read.
import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { createKeyspace } from '../../../src/directory/keys.ts';
import type { Bridge } from '../../support/build-bridge.ts';
import { eventually } from '../../support/eventually.ts';
import { watchCommands } from '../../support/watch-commands.ts';
import { startApi, userBody, type Client, type Json } from '../scim-conformance/client.ts';
import { expectUnharmed } from './attack.ts';

const PAGE_BYTES = 200_000;
/** Half of it is the share of one connection: 524,288 bytes, 3,276 members of 160 bytes. */
const IN_FLIGHT_BYTES = 1_048_576;

let bridge: Bridge;
let scim: Client;
let redis: Redis;
beforeAll(async () => {
  ({ bridge, scim } = await startApi({
    configure: ({ server }) =>
      void Object.assign(server.limits, { pageBytes: PAGE_BYTES, inFlightBytes: IN_FLIGHT_BYTES }),
  }));
  redis = new Redis(process.env.TEST_REDIS_URL ?? '');
});
afterAll(async () => {
  redis.disconnect();
  await bridge.stop();
});
afterEach(() => expectUnharmed(scim));

const people = (count: number, length = 0): string[] =>
  Array.from({ length: count }, (_, n) => `somebody-${n}`.padEnd(length, 'x'));

/** Creates groups, runs `work` with their ids, and deletes them. */
async function withGroups(groups: Record<string, string[]>, work: (ids: string[]) => Promise<void>) {
  const ids: string[] = [];
  for (const [name, members] of Object.entries(groups))
    ids.push((await scim.group(name, members)).id as string);
  try {
    await work(ids);
  } finally {
    for (const id of ids) expect((await scim.delete(`/Groups/${id}`)).status).toBe(204);
  }
}

/** Returns the commands on keys of this bridge while `work` ran. Other tests use the same Redis at the same time. */
async function commandsDuring(work: () => Promise<void>): Promise<string[][]> {
  const marker = randomUUID();
  const commands: string[][] = [];
  let isOver = false;
  const stop = await watchCommands(redis, ([name = '', key = '', ...rest]) => {
    if (key.startsWith(bridge.config.redis.prefix)) commands.push([name.toUpperCase(), key, ...rest]);
    isOver ||= key === marker;
  });
  try {
    await work();
    await redis.echo(marker);
    await eventually('all commands were seen', () => isOver);
  } finally {
    stop();
  }
  return commands;
}

/** Returns how often Redis was asked for all members of a group while `work` ran. */
const memberReads = async (work: () => Promise<void>): Promise<number> =>
  (await commandsDuring(work)).filter(([name]) => name === 'SMEMBERS').length;

test('a page of groups of 2,500 members reads the members of the groups that it shows, and not of all that it found', () =>
  withGroups(
    Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`crowd${n}`, people(2500, 50)])),
    async (ids) => {
      let shown: Json[] = [];
      const reads = await memberReads(async () => {
        shown = (await scim.get('/Groups')).body.Resources;
      });
      expect(shown.map(({ id, members }) => [id, members.length])).toEqual([[ids[0], 2500]]);
      expect([1, 2]).toContain(reads);
    },
  ));

describe('a group with more members than an answer may hold', () => {
  const everyone = { before: people(3), everyone: people(3500), after: people(2) };

  test('a list ends before the group; a page that begins with it answers 400 tooMany and names it; without members all are listed', () =>
    withGroups(everyone, async (ids) => {
      const { body } = await scim.get('/Groups?count=10');
      expect([body.totalResults, body.itemsPerPage]).toEqual([3, 1]);
      for (const path of [
        '/Groups?startIndex=2',
        `/Groups?filter=${encodeURIComponent('displayName eq "everyone"')}`,
        '/Groups?sortBy=displayName&startIndex=3',
        `/Groups/${ids[1]}`,
      ]) {
        const { status, body: refusal } = await scim.get(path);
        expect([path, status, refusal.scimType]).toEqual([path, 400, 'tooMany']);
        expect(refusal.detail).toContain('3500 members');
      }
      expect((await scim.post('/.search', { filter: 'displayName eq "everyone"' })).status).toBe(400);
      const without = (await scim.get('/Groups?excludedAttributes=members')).body;
      expect((without.Resources as Json[]).map(({ displayName }) => displayName as string)).toEqual(
        Object.keys(everyone),
      );
      expect((await scim.get('/Groups?startIndex=3')).body.Resources[0].members).toHaveLength(2);
    }));

  test('a group of 1,500 member values of 900 characters counts by its bytes: 400 tooMany, and no member is read', () =>
    withGroups({ wide: people(1500, 900) }, async ([id]) => {
      const reads = await memberReads(async () => {
        for (const path of [`/Groups/${id}`, '/Groups']) {
          const { status, body } = await scim.get(path);
          expect([path, status, body.scimType]).toEqual([path, 400, 'tooMany']);
        }
      });
      expect(reads).toBe(0);
      expect((await scim.get(`/Groups/${id}?excludedAttributes=members`)).status).toBe(200);
      const { status, body } = await scim.send('PATCH', `/Groups/${id}?attributes=displayName,members`, {
        Operations: [{ op: 'add', path: 'members', value: [{ value: 'one more' }] }],
      });
      expect([status, body.displayName, body.members]).toEqual([200, 'wide', undefined]);
    }));

  test('a group of 900 member values of 900 characters, more than an answer may hold, answers 400 tooMany', () =>
    withGroups({ wide: people(900, 900) }, async ([id]) => {
      for (const path of [`/Groups/${id}`, '/Groups']) {
        const { status, body } = await scim.get(path);
        expect([path, status, body.scimType]).toEqual([path, 400, 'tooMany']);
        expect(body.detail).toMatch(/has 900 members, about 8\d\d kB, too much for an answer/);
      }
    }));
});

test('reads of a group above a page, alone, in a list and by a filter on members, give their turn back: later ones answer 200', () =>
  withGroups({ wide: people(3000, 80) }, async ([id]) => {
    const filter = (expression: string): string => `/Groups?filter=${encodeURIComponent(expression)}`;
    const byMember = `${filter(`members.value eq "${people(1, 80)[0]}"`)}&excludedAttributes=members`;
    const paths = [`/Groups/${id}`, '/Groups', byMember, filter('members.value eq "nobody" or id pr')];
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all([...paths, ...paths, ...paths].map((path) => scim.get(path)));
      // An answer that another client has not read yet takes the share of the connection.
      for (const { status } of answers) expect([200, 503]).toContain(status);
    }
    for (const path of paths) {
      const { status, body } = await scim.get(path);
      expect([path, status, body.totalResults ?? body.members.length]).toEqual([
        path,
        200,
        path === paths[0] ? 3000 : 1,
      ]);
    }
  }));

test('a filter on groups.value finds the members of a group of 250,000 members', async () => {
  const { id: user } = await scim.user('one-of-many@x.example');
  await withGroups({ everybody: [user] }, async ([id = '']) => {
    const key = createKeyspace(bridge.config.redis.prefix, 'default').key('members', id);
    for (let at = 0; at < 250_000; at += 5000)
      await redis.sadd(key, ...Array.from({ length: 5000 }, (_, n) => `gone${at + n}`.padEnd(20, '0')));
    const found = await scim.find('/Users', `groups.value eq "${id}"`);
    expect(found.map((each) => each.id as string)).toEqual([user]);
    await redis.del(key);
  });
});

describe('an externalId or an e-mail address that 400 users share', () => {
  const SHARERS = 400;
  const ids: string[] = [];
  beforeAll(async () => {
    for (let n = 0; n < SHARERS; n++) {
      const emails = [{ value: 'all@shared.example' }];
      const body = userBody(`sharer${n}@x.example`, { externalId: 'constant', emails });
      ids.push((await scim.post('/Users', body)).body.id as string);
    }
  });

  test.each(['externalId eq "constant"', 'emails.value eq "all@shared.example"'])(
    'the first page of "%s" has one user, says how many there are, and reads no more than a portion of them at once',
    async (filter) => {
      let body: Json = {};
      const commands = await commandsDuring(async () => {
        ({ body } = await scim.get(`/Users?filter=${encodeURIComponent(filter)}&count=1`));
      });
      expect([body.totalResults, body.itemsPerPage, idsOf(body)]).toEqual([SHARERS, 1, [ids[0]]]);
      const portions = commands.filter(([name]) => name === 'HMGET').map(([, , ...fields]) => fields.length);
      expect(Math.max(0, ...portions)).toBeLessThanOrEqual(250);
      // A user and its groups.
      const records = commands.filter(([name, , id = '']) => name === 'HGET' && ids.includes(id));
      expect(records.length).toBeLessThan(250);
    },
  );

  test('the pages of a shared externalId list each user once', async () => {
    const seen: string[] = [];
    while (seen.length < SHARERS) {
      const filter = encodeURIComponent('externalId eq "constant"');
      seen.push(
        ...idsOf((await scim.get(`/Users?filter=${filter}&count=150&startIndex=${seen.length + 1}`)).body),
      );
    }
    expect(seen).toEqual(ids);
  });
});

const idsOf = ({ Resources }: Json): string[] => (Resources as Json[]).map(({ id }) => id as string);
