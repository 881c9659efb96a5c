// Tests lagging, truncated and missing lists of the platform, and userNames that pass from one user to another.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { createScenarios } from '../support/scenario.ts';

const LONG_MS = 40_000;

interface Context {
  bridge: Bridge;
  front: Front;
}

interface Front {
  url: string;
  /** Address of the sandbox; set before the first request. */
  platformUrl: string;
  /** Number of members in an answer; further members are cut off. */
  shownMembers: number;
  stop(): void;
}

/** A proxy between bridge and sandbox that forwards requests and shortens the member lists of answers. */
async function openFront(): Promise<Front> {
  const server = createServer((incoming, answer) => {
    const handOn = async (): Promise<void> => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const { authorization, 'content-type': type } = incoming.headers;
      const given = await request(front.platformUrl + (incoming.url ?? ''), {
        method: incoming.method as 'GET',
        headers: { ...(authorization && { authorization }), ...(type && { 'content-type': type }) },
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      });
      const text = await given.body.text();
      answer.writeHead(given.statusCode, { 'content-type': 'application/json' });
      answer.end(/\/Groups\/[^/?]+/.test(incoming.url ?? '') ? cut(text, front.shownMembers) : text);
    };
    handOn().catch(() => incoming.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const front: Front = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    platformUrl: '',
    shownMembers: Infinity,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return front;
}

function cut(text: string, shownMembers: number): string {
  if (!text.startsWith('{')) return text;
  const group = JSON.parse(text) as { members?: unknown[] };
  if (group.members) group.members = group.members.slice(0, shownMembers);
  return JSON.stringify(group);
}

async function openContext(): Promise<Context> {
  const front = await openFront();
  const bridge = await buildBridge({
    configure: ({ targets: { main } }) => {
      if (!main) return;
      front.platformUrl = main.url;
      main.url = front.url;
      main.timeoutMs = 2000;
      main.attributes = {
        country: { type: 'string', from: 'addresses[type eq "work"].country', onEmpty: 'keep' },
        contractor: { type: 'boolean', expression: 'userType = "Contractor"', onEmpty: 'keep' },
      };
    },
  });
  return { bridge, front };
}

async function closeContext({ bridge, front }: Context): Promise<void> {
  await bridge.stop();
  front.stop();
}

/**
 * Each test has its own bridge and sandbox and runs concurrently, because most of the time is spent waiting for
 * retries.
 */
const test = createScenarios(openContext, closeContext);

const person = { userType: 'Contractor', addresses: [{ type: 'work', country: 'PT' }] };
const deadLetterLines = ({ logs }: Bridge): string[] =>
  logs.filter((line) => line.includes('needs a person'));

test('the answer to a create is lost and lists show the account late → the account is found and linked', async ({
  bridge,
}) => {
  const { idp, platform } = bridge;
  const creates = '/(Users|Groups|user-attributes)$';
  const rules = [{ method: 'POST', path: creates, times: 4, dropAfter: true }];
  await platform.control('PATCH', '/faults', { staleReadsMs: 1500, rules });
  const id = await idp.createUser('late@acme.example', person);
  await idp.createGroup('late group', [id]);
  const isThere = async (): Promise<boolean> => {
    const user = await platform.user('late@acme.example');
    return user?.active === true && user.groups.includes('late group');
  };
  await eventually('active in the group', isThere, LONG_MS);
  expect((await platform.user('late@acme.example'))?.attributes).toMatchObject({
    country: 'PT',
    contractor: true,
  });
  expect(deadLetterLines(bridge)).toEqual([]);
}, 60_000);

test('an account has given up a userName that outdated lists still show → the userName is written to another account', async ({
  bridge,
}) => {
  const { idp, platform } = bridge;
  const first = await idp.createUser('given-up@acme.example', person);
  const group = await idp.createGroup('given up');
  await eventually('there', async () => (await platform.user('given-up@acme.example'))?.active, LONG_MS);
  await eventually('group', () => platform.group('given up'), LONG_MS);
  await platform.control('PATCH', '/faults', { staleReadsMs: 1500 });
  await idp.patch(`/Users/${first}`, { op: 'replace', path: 'userName', value: 'gave-up@acme.example' });
  await idp.patch(`/Groups/${group}`, { op: 'replace', path: 'displayName', value: 'gave up' });
  await eventually('renamed', () => platform.user('gave-up@acme.example'), LONG_MS);
  await eventually('group renamed', () => platform.group('gave up'), LONG_MS);
  await idp.createUser('given-up@acme.example', { ...person, externalId: 'another person' });
  await idp.createGroup('given up');
  await eventually(
    'the next one',
    async () => (await platform.user('given-up@acme.example'))?.active,
    LONG_MS,
  );
  await eventually('the next group', () => platform.group('given up'), LONG_MS);
  expect((await platform.user('given-up@acme.example'))?.externalId).toBe('another person');
  expect(deadLetterLines(bridge)).toEqual([]);
}, 120_000);

test('three users exchange their userNames in a circle → they have these names at the platform, without duplicate accounts', async ({
  bridge,
}) => {
  const { idp, platform } = bridge;
  const names = ['north@acme.example', 'east@acme.example', 'south@acme.example'];
  const ids = await Promise.all(names.map((name) => idp.createUser(name, { ...person, externalId: name })));
  for (const name of names)
    await eventually(`${name} there`, async () => (await platform.user(name))?.active, LONG_MS);
  const rename = (id: string | undefined, value: string | undefined) =>
    idp.patch(`/Users/${id ?? ''}`, { op: 'replace', path: 'userName', value });
  // The syncs are held back until all changes are pushed, so the platform never sees the states in between.
  await platform.control('PATCH', '/faults', { rules: [{ method: 'PATCH', times: 3, status5xx: true }] });
  await rename(ids[0], 'between@acme.example');
  await rename(ids[2], names[0]);
  await rename(ids[1], names[2]);
  await rename(ids[0], names[1]);
  await eventually(
    'exchanged',
    async () => {
      const found = await Promise.all(names.map((name) => platform.user(name)));
      return found.map((user) => user?.externalId).join() === [names[2], names[0], names[1]].join();
    },
    LONG_MS,
  );
  const { users } = await platform.state();
  expect(users.filter(({ externalId }) => names.includes(externalId ?? ''))).toHaveLength(3);
  expect(deadLetterLines(bridge)).toEqual([]);
}, 60_000);

test("web pages come in place of the platform's user list → a new user waits and is no dead letter", async ({
  bridge,
}) => {
  const { idp, platform } = bridge;
  const rules = [{ method: 'GET', path: '/api/v1/users$', times: 2, htmlAnswer: true }];
  await platform.control('PATCH', '/faults', { rules });
  await idp.createUser('paged@acme.example', person);
  await eventually('active', async () => (await platform.user('paged@acme.example'))?.active, LONG_MS);
  expect((await platform.user('paged@acme.example'))?.attributes).toMatchObject({ contractor: true });
  expect(deadLetterLines(bridge)).toEqual([]);
}, 60_000);

test('a truncated answer of a group lacks members → they still count as members if their accounts list the group', async ({
  bridge,
  front,
}) => {
  const { idp, platform } = bridge;
  front.shownMembers = 2;
  const names = ['m1', 'm2', 'm3', 'm4', 'm5'].map((name) => `${name}@acme.example`);
  const ids = await Promise.all(names.map((name) => idp.createUser(name, person)));
  await idp.createGroup('cut short', ids);
  for (const name of names)
    await eventually(`${name} active`, async () => (await platform.user(name))?.active, LONG_MS);
  // The accounts may be active before the group was pushed.
  await bridge.idle();
  expect((await platform.group('cut short'))?.members).toHaveLength(5);
}, 60_000);

test('the answer to a create is lost → the account is not adopted by another user with its userName', async ({
  bridge,
}) => {
  const { idp, platform } = bridge;
  const before = deadLetterLines(bridge).length;
  const rules = [{ method: 'POST', path: '/Users$', times: 1, dropAfter: true }];
  await platform.control('PATCH', '/faults', { rules });
  const first = await idp.createUser('unknown@acme.example', { ...person, externalId: 'unknown 1' });
  await eventually('made', () => platform.user('unknown@acme.example'), LONG_MS);
  await idp.patch(`/Users/${first}`, { op: 'replace', path: 'userName', value: 'known@acme.example' });
  await idp.createUser('unknown@acme.example', { ...person, externalId: 'unknown 2' });
  const both = async (): Promise<boolean> =>
    (await platform.user('known@acme.example'))?.externalId === 'unknown 1' &&
    (await platform.user('unknown@acme.example'))?.externalId === 'unknown 2';
  await eventually('both are there', both, LONG_MS);
  expect(deadLetterLines(bridge)).toHaveLength(before);
}, 60_000);
