// Tests lists and searches that are requested faster than they can be answered, by clients that wait, disconnect, or
// never read.
import { abandon, burst, neverRead, pipeline, scimRequest } from './attacks.ts';
import { PEOPLE, startSiege, TOKENS, type Siege } from './siege.ts';

const USERS = '/scim/v2/Users';
/** Filters on an attribute without an index, so every user is read. */
const SCAN = encodeURIComponent('title co "nowhere"');

let siege: Siege;
beforeAll(async () => {
  siege = await startSiege({ people: PEOPLE });
}, 240_000);
afterAll(() => siege.stop());

const port = (): number => siege.bridge.port;
const get = (query: string): Buffer => scimRequest(`GET ${USERS}?${query}`, TOKENS.scim);
const many = (count: number, query: string): Buffer[] => Array.from({ length: count }, () => get(query));

test('300 pipelined requests for pages of 1,000 on one connection leave the service available', async () => {
  await siege.withstand('300 pipelined pages', () => pipeline(port(), get('count=1000'), 300, 5000));
}, 60_000);

test('300 pipelined requests for list pages that the client never reads leave the service available', async () => {
  await siege.withstand('300 pipelined pages, unread', () =>
    neverRead(port(), get('count=1000'), { connections: 1, times: 300, holdMs: 3000 }),
  );
});

test('100 clients that request a page of 1,000 and never read it leave the service available', async () => {
  await siege.withstand('100 unread pages', () =>
    neverRead(port(), get('count=1000'), { connections: 100, times: 1, holdMs: 3000 }),
  );
});

test('50 searches that no index can answer, with cursors, leave the service available', async () => {
  const wires = many(50, `filter=${SCAN}&cursor=&count=100`);
  await siege.withstand('50 searches with cursor', () => burst(port(), wires));
}, 60_000);

test('200 searches that no index can answer, whose clients disconnect, leave the service available', async () => {
  await siege.withstand('200 abandoned searches', () => abandon(port(), many(200, `filter=${SCAN}`), 500));
}, 60_000);

test('50 requests for a sorted page of 1,000 still let other requests be answered', async () => {
  await siege.withstand('50 sorted pages', () => burst(port(), many(50, 'sortBy=title&count=1000')));
}, 60_000);

test('200 concurrent polls for events leave the service available, and polls beyond the limit get 503', async () => {
  const body = (n: number) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: `told${n}`,
  });
  const Operations = Array.from({ length: 500 }, (_, n) => ({
    method: 'POST',
    path: '/Users',
    bulkId: `b${n}`,
    data: body(n),
  }));
  const schemas = ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'];
  const bulk = JSON.stringify({ schemas, Operations });
  await burst(port(), [scimRequest('POST /scim/v2/Bulk', TOKENS.scim, bulk)]);
  const poll = JSON.stringify({ maxEvents: 500, returnImmediately: true });
  const wire = scimRequest('POST /connections/default/events', TOKENS.receiver, poll);
  const { statuses } = await siege.withstand('200 polls for 500 events', () =>
    burst(
      port(),
      Array.from({ length: 200 }, () => wire),
    ),
  );
  expect(Object.keys(statuses).sort()).toEqual(['200', '503']);
}, 60_000);
