// Tests security events from a push to the receiver (RFC 9967), by poll (RFC 8936) and by push (RFC 8935).
import { generateKeyPairSync } from 'node:crypto';
import { decodeProtectedHeader } from 'jose';
import type { App } from '../../../src/app.ts';
import { buildBridge, TOKEN, type Bridge } from '../../support/build-bridge.ts';
import { eventually } from '../../support/eventually.ts';
import {
  AUDIENCE,
  createCheck,
  ISSUER,
  startReceiver,
  type Receiver,
  type Told,
} from '../../support/receiver.ts';
import { scrape } from '../../support/scrape.ts';
import { createClient, USER, type Client } from '../scim-conformance/client.ts';

const EVENT = 'urn:ietf:params:scim:event:prov';
const ADMIN_TOKEN = 'token-of-the-operator-0123456789';
const POLL_TOKEN = 'token-of-the-receiver-0123456789';
const PUSH_TOKEN = 'token-that-the-receiver-gave-out';
const pem = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
const jwk = JSON.stringify(
  generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
);

let bridge: Bridge;
let receiver: Receiver;
const events = {
  issuer: ISSUER,
  audience: AUDIENCE,
  otherKeys: [],
  poll: null,
  push: null,
  externalIds: false,
  mostPending: 1000,
  maxAgeMs: 3_600_000,
};
beforeAll(async () => {
  receiver = await startReceiver();
  bridge = await buildBridge({
    configure: ({ connections, server }) => {
      server.adminToken = ADMIN_TOKEN;
      const { default: base } = connections;
      if (!base) throw new Error('there is no connection');
      const push = {
        endpoint: receiver.endpoint,
        token: PUSH_TOKEN,
        allowLoopbackHttp: true,
        timeoutMs: 1000,
      };
      connections.polled = {
        ...base,
        name: 'polled',
        events: { ...events, key: pem(), poll: { token: POLL_TOKEN } },
      };
      connections.pushed = {
        ...base,
        name: 'pushed',
        events: { ...events, key: jwk, push, externalIds: true },
      };
    },
  });
});
afterAll(async () => {
  await bridge.stop();
  await receiver.stop();
});

const client = (connection: string): Client =>
  createClient(bridge.app.port, `/connections/${connection}/scim/v2`);
const addressOf = (connection: string, app: App = bridge.app): string =>
  `http://127.0.0.1:${app.port}/connections/${connection}/events`;
const checkOf = (connection: string) => createCheck(`${addressOf(connection)}/keys`);

async function poll(body: object, token = POLL_TOKEN, connection = 'polled') {
  const answer = await fetch(addressOf(connection), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const found = (await answer.json()) as {
    sets: Record<string, string>;
    moreAvailable: boolean;
    detail?: string;
  };
  return { ...found, status: answer.status };
}
const now = (more: object = {}) => poll({ returnImmediately: true, ...more });
/** Polls and returns all pending events. */
async function drain(): Promise<Told[]> {
  const told: Told[] = [];
  for (let ack: string[] = []; ;) {
    const { sets } = await now({ ack });
    ack = Object.keys(sets);
    if (ack.length === 0) return told;
    told.push(...(await Promise.all(Object.values(sets).map(checkOf('polled')))));
  }
}
const urisOf = ({ events: found }: Told): string[] =>
  Object.keys(found).map((uri) => uri.replace(`${EVENT}:`, ''));
const namesOf = ({ events: found }: Told): string[] =>
  Object.values(found).flatMap(({ attributes = [] }) => attributes);

test('only a connection with an event receiver has securityEvents in ServiceProviderConfig (RFC 9967 §4); at another one a poll for events answers 404', async () => {
  const { body } = await client('polled').get('/ServiceProviderConfig');
  const uris = ['create:notice', 'put:notice', 'patch:notice', 'delete', 'activate', 'deactivate'];
  expect(body.securityEvents).toEqual({
    asyncRequest: 'none',
    eventUris: uris.map((name) => `${EVENT}:${name}`),
  });
  const { body: schema } = await client('polled').get(`/Schemas/${body.schemas[0]}`);
  expect(schema.attributes.map(({ name }: { name: string }) => name)).toContain('securityEvents');
  const { body: other } = await createClient(bridge.app.port).get('/ServiceProviderConfig');
  expect(other).not.toHaveProperty('securityEvents');
  expect((await poll({}, POLL_TOKEN, 'default')).status).toBe(404);
  expect((await fetch(`${addressOf('default')}/keys`)).status).toBe(404);
});

test('creating, changing and deleting a user emits signed events with attribute names and without attribute values', async () => {
  const idp = client('polled');
  const { id } = await idp.user('secret.name@acme.example', {
    externalId: 'ext-secret',
    displayName: 'Secret Name',
  });
  await idp.patch(`/Users/${id}`, { op: 'replace', path: 'title', value: 'Secret Title' });
  await idp.patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'False' });
  await idp.put(`/Users/${id}`, { schemas: [USER], userName: 'secret.name@acme.example', active: true });
  const { id: team } = await idp.group('Secret Team');
  await idp.patch(`/Groups/${team}`, { op: 'add', path: 'members', value: [{ value: id }] });
  await idp.delete(`/Users/${id}`);
  const { sets, moreAvailable } = await now();
  expect(moreAvailable).toBe(false);
  const told = await Promise.all(Object.values(sets).map(checkOf('polled')));
  expect(told.map(({ jti }) => jti)).toEqual(Object.keys(sets));
  expect(told.map((each) => [each.sub_id.uri, urisOf(each)])).toEqual([
    [`/Users/${id}`, ['create:notice']],
    [`/Users/${id}`, ['patch:notice']],
    [`/Users/${id}`, ['patch:notice', 'deactivate']],
    [`/Users/${id}`, ['put:notice', 'activate']],
    [`/Groups/${team}`, ['create:notice']],
    [`/Groups/${team}`, ['patch:notice']],
    [`/Users/${id}`, ['delete']],
    [`/Groups/${team}`, ['patch:notice']],
  ]);
  expect(namesOf(told[0] as Told)).toEqual(expect.arrayContaining(['displayName', 'externalId', 'userName']));
  expect(told.slice(1).map(namesOf)).toEqual([
    ['title'],
    ['active'],
    expect.arrayContaining(['active', 'displayName', 'externalId', 'title']),
    expect.arrayContaining(['displayName']),
    ['members'],
    [],
    ['members'],
  ]);
  expect(told[1]?.events[`${EVENT}:patch:notice`]?.version).toBe('W/"2"');
  for (const { sub_id, sub, exp, iat = 0, txn } of told) {
    expect(Object.keys(sub_id)).toEqual(['format', 'uri']);
    expect([sub_id.format, sub, exp, typeof txn]).toEqual(['scim', undefined, undefined, 'string']);
    expect(Math.abs(iat - Date.now() / 1000)).toBeLessThan(60);
  }
  expect(JSON.stringify(told).toLowerCase()).not.toMatch(/secret/);
  expect(bridge.logs.join('')).not.toMatch(/Secret|secret\.name/);
  await now({ ack: Object.keys(sets) });
});

test('pushes without change and refused pushes emit no security event', async () => {
  const idp = client('polled');
  const { id } = await idp.user('quiet@acme.example', { title: 'one' });
  await drain();
  await idp.patch(`/Users/${id}`, { op: 'replace', path: 'title', value: 'one' });
  await idp.post('/Users', { schemas: [USER], userName: 'quiet@acme.example' });
  await idp.patch(`/Users/${id}`, { op: 'replace', path: 'noSuchAttribute.at[all', value: 1 });
  await idp.get(`/Users/${id}`);
  expect((await now()).sets).toEqual({});
});

test('a poll returns pending events in order and at most maxEvents of them until they are acknowledged; a repeated ack is ignored', async () => {
  const idp = client('polled');
  const ids: string[] = [];
  for (const name of ['p1', 'p2', 'p3']) ids.push(`/Users/${(await idp.user(`${name}@acme.example`)).id}`);
  const check = checkOf('polled');
  const first = await now({ maxEvents: 2 });
  expect(first.moreAvailable).toBe(true);
  expect(Object.keys((await now({ maxEvents: 2 })).sets)).toEqual(Object.keys(first.sets));
  expect(await now({ maxEvents: 0 })).toMatchObject({ sets: {}, moreAvailable: true });
  const [one = '', two = ''] = Object.keys(first.sets);
  const second = await now({ ack: [one, two, 'nobody.1-1', 'not an id'] });
  expect(second.moreAvailable).toBe(false);
  const seen = await Promise.all([...Object.values(first.sets), ...Object.values(second.sets)].map(check));
  expect(seen.map(({ sub_id }) => sub_id.uri)).toEqual(ids);
  expect((await now({ ack: [one, ...Object.keys(second.sets)] })).sets).toEqual({});
  expect((await now({ ack: Object.keys(second.sets) })).sets).toEqual({});
});

const admin = async (method: 'GET' | 'POST', path: string): Promise<any> => {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  return (await fetch(`http://127.0.0.1:${bridge.app.port}/admin/v1${path}`, { method, headers })).json();
};

test('an event that the receiver refuses in setErrs is listed as refused, and is sent again with the time of its change when an operator orders a retry', async () => {
  const { id } = await client('polled').user('refused@acme.example');
  const { sets } = await now();
  const [jti = ''] = Object.keys(sets);
  const [first] = await Promise.all(Object.values(sets).map(checkOf('polled')));
  const setErrs = { [jti]: { err: 'jwtAud', description: 'not for us' } };
  expect((await now({ setErrs })).sets).toEqual({});
  expect((await now({ setErrs })).sets).toEqual({});
  const listed = { connection: 'polled', resource: `User:${id}`, err: 'jwtAud', description: 'not for us' };
  expect(await admin('GET', '/events/refused')).toMatchObject([{ ...listed, what: ['create'] }]);
  const rows: { connection: string; events: object | null }[] = await admin('GET', '/status');
  const [polled, off] = ['polled', 'default'].map(
    (name) => rows.find((row) => row.connection === name)?.events,
  );
  expect(polled).toMatchObject({ pending: 0, kept: 1, refused: 1, dropped: 0, problem: null });
  expect(off).toBeNull();
  const metrics = await scrape(bridge.app.port);
  expect(metrics.value('bridge_events_total', { connection: 'polled', outcome: 'refused' })).toBe(1);
  expect(metrics.value('bridge_events_refused', { connection: 'polled' })).toBe(1);
  // `iat` has whole seconds.
  await new Promise((resolve) => setTimeout(resolve, 1100));
  expect(await admin('POST', '/events/retry')).toEqual({ count: 1 });
  const [again] = await drain();
  expect(again?.sub_id.uri).toBe(`/Users/${id}`);
  expect(again).toEqual({ ...first, jti: expect.stringMatching(/^polled\.\d+-\d+$/) });
  expect(again?.jti).not.toBe(jti);
  expect(await admin('GET', '/events/refused')).toEqual([]);
});

test('a poll without pending events waits for the next event, and returns an empty set when its process stops', async () => {
  await drain();
  const waiting = poll({});
  await new Promise((resolve) => setTimeout(resolve, 300));
  const { id } = await client('polled').user('awaited@acme.example');
  const { sets } = await waiting;
  const [told] = await Promise.all(Object.values(sets).map(checkOf('polled')));
  expect(told?.sub_id.uri).toBe(`/Users/${id}`);
  await drain();
  const other = await bridge.another('api');
  const ask = (body: object) =>
    fetch(addressOf('polled', other), {
      method: 'POST',
      headers: { authorization: `Bearer ${POLL_TOKEN}` },
      body: JSON.stringify(body),
    });
  // The waiting poll uses a connection that is already open.
  await (await ask({ returnImmediately: true })).text();
  const cut = ask({});
  await new Promise((resolve) => setTimeout(resolve, 300));
  const begun = Date.now();
  await other.stop();
  expect(await (await cut).json()).toEqual({ sets: {}, moreAvailable: false });
  expect(Date.now() - begun).toBeLessThan(5000);
});

test.each([
  ['no object', []],
  ['text for a number', { maxEvents: '5' }],
  ['a negative number', { maxEvents: -1 }],
  ['a number for a truth value', { returnImmediately: 1 }],
  ['text for a list', { ack: 'a' }],
  ['no code', { setErrs: { a: { description: 'b' } } }],
])('a poll for security events with %s as a parameter answers 400 with a detail', async (_what, body) => {
  const { status, detail } = await poll(body);
  expect([status, typeof detail]).toEqual([400, 'string']);
});

test("the token of the identity provider answers 401 at the event endpoint, and the receiver's token answers 401 at SCIM endpoints", async () => {
  for (const token of [TOKEN, '', `${POLL_TOKEN}x`]) expect((await poll({}, token)).status).toBe(401);
  const { status } = await createClient(bridge.app.port, '/connections/polled/scim/v2', POLL_TOKEN).get(
    '/Users',
  );
  expect(status).toBe(401);
  expect((await fetch(addressOf('polled'))).status).toBe(401);
  expect((await fetch(addressOf('pushed'), { method: 'POST' })).status).toBe(404);
});

test('the key endpoint lists public keys only, and after a key change pending events are signed with the new key under the same ids', async () => {
  const settings = bridge.config.connections.polled?.events;
  if (!settings) throw new Error('events are off');
  const shown = async () =>
    ((await (await fetch(`${addressOf('polled')}/keys`)).json()) as { keys: Record<string, string>[] }).keys;
  const [before] = await shown();
  expect(before).toMatchObject({ kty: 'EC', alg: 'ES256', use: 'sig' });
  expect(before).not.toHaveProperty('d');
  const next = pem();
  settings.otherKeys.push(next);
  expect(await shown()).toHaveLength(2);
  await client('polled').user('rotated@acme.example');
  const [old = ''] = Object.values((await now()).sets);
  settings.otherKeys = [settings.key];
  settings.key = next;
  const [fresh = ''] = Object.values((await now()).sets);
  expect([decodeProtectedHeader(old).kid, decodeProtectedHeader(fresh).kid]).toEqual([
    before?.kid,
    (await shown())[0]?.kid,
  ]);
  const [one, two] = await Promise.all([old, fresh].map(checkOf('polled')));
  // The event is signed again after the key change and keeps its id.
  expect(one).toEqual(two);
  await drain();
});

const titles = async (id: string, ...values: string[]): Promise<void> => {
  for (const value of values)
    await client('pushed').patch(`/Users/${id}`, { op: 'replace', path: 'title', value });
};
const versions = async (id: string): Promise<string[]> => {
  const told = await Promise.all(receiver.posts.map(({ text }) => checkOf('pushed')(text)));
  return told
    .filter(({ sub_id }) => sub_id.uri === `/Users/${id}`)
    .map(({ events: found }) => Object.values(found)[0]?.version ?? 'gone');
};
const posted = (count: number) =>
  eventually(`${count} posts`, () => Promise.resolve(receiver.posts.length >= count));

test("events are posted one by one with the receiver's token, and an event answered with 503, HTML or a redirect is posted again", async () => {
  receiver.posts.length = 0;
  receiver.answers = [
    { status: 503, headers: { 'retry-after': '1' } },
    { status: 400, body: '<html>a proxy</html>' },
    { status: 302, headers: { location: receiver.endpoint } },
  ];
  const { id } = await client('pushed').user('pushed@acme.example', { externalId: 'ext-pushed' });
  await titles(id, 'a', 'b');
  await posted(6);
  const [first] = receiver.posts;
  expect(first?.headers).toMatchObject({
    'content-type': 'application/secevent+jwt',
    accept: 'application/json',
    authorization: `Bearer ${PUSH_TOKEN}`,
  });
  expect(decodeProtectedHeader(first?.text ?? '')).toMatchObject({ alg: 'RS256', typ: 'secevent+jwt' });
  const told = await checkOf('pushed')(first?.text ?? '');
  // The externalId is included only if the settings ask for it.
  expect(told.sub_id).toEqual({ format: 'scim', uri: `/Users/${id}`, externalId: 'ext-pushed' });
  expect(await versions(id)).toEqual(['W/"1"', 'W/"1"', 'W/"1"', 'W/"1"', 'W/"2"', 'W/"3"']);
}, 30_000);

test('a pushed event that the receiver refuses is kept for the operator; one refused because of its audience is posted again', async () => {
  receiver.posts.length = 0;
  receiver.answers = [
    { status: 400, body: JSON.stringify({ err: 'invalid_request', description: 'not parsable' }) },
    { status: 400, body: JSON.stringify({ err: 'invalid_audience', description: 'not ours' }) },
  ];
  const { id } = await client('pushed').user('unwanted@acme.example');
  await titles(id, 'a');
  await posted(3);
  expect(await versions(id)).toEqual(['W/"1"', 'W/"2"', 'W/"2"']);
  expect(await admin('GET', '/events/refused')).toMatchObject([
    { connection: 'pushed', err: 'invalid_request' },
  ]);
  // The error text of a receiver may contain personal data.
  const log = bridge.logs.join('');
  expect(log).toContain('"problem":"answered 400 instead of 202"');
  expect(log).not.toContain('not ours');
  expect(await admin('POST', '/events/drop')).toEqual({ count: 1 });
  expect((await admin('GET', '/acts')).map(({ act }: { act: string }) => act)).toEqual([
    'dropEvents',
    'retryEvents',
  ]);
}, 30_000);

test('with two processes, a receiver that returns after an outage gets every event once and in order, and bridge_events_oldest_seconds becomes 0', async () => {
  const other = await bridge.another('worker');
  receiver.posts.length = 0;
  receiver.isThere = false;
  const { id } = await client('pushed').user('waited@acme.example');
  await titles(id, 'a', 'b', 'c');
  const oldest = async (): Promise<number> =>
    (await scrape(bridge.app.port)).value('bridge_events_oldest_seconds', { connection: 'pushed' });
  await eventually('the oldest grows old', async () => (await oldest()) > 1);
  receiver.isThere = true;
  await posted(4);
  await eventually('none waits', async () => (await oldest()) === 0);
  await other.stop();
  await titles(id, 'd');
  await posted(5);
  expect(await versions(id)).toEqual([1, 2, 3, 4, 5].map((version) => `W/"${version}"`));
}, 30_000);
