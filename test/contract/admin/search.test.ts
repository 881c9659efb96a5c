// Tests the search for people and groups by a part of a name, through the admin API.
import { openAdmin, type AdminRig } from './rig.ts';

const PEOPLE = [
  { userName: 'ada@acme.example', displayName: 'Augusta Lovelace', externalId: 'X-1815' },
  { userName: 'u4711@acme.example', name: { givenName: 'Jürgen', familyName: 'Müller' } },
  { userName: 'u4712@acme.example', displayName: 'محمد علي' },
  { userName: 'u4713@acme.example', displayName: 'Ελένη Παπαδοπούλου' },
  {
    userName: 'grace@acme.example',
    emails: [{ value: 'Amazing.Grace@navy.example', type: 'work' }],
    active: false,
  },
  { userName: 'star*[a]?\\@acme.example', displayName: 'Star' },
];
let rig: AdminRig;

beforeAll(async () => {
  rig = await openAdmin({
    configure: (config) => {
      const { default: first } = config.connections;
      if (first) config.connections.second = { ...first, name: 'second' };
    },
  });
  for (const person of PEOPLE)
    await rig.bridge.idp.send('POST', '/Users', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      ...person,
    });
  await rig.bridge.idp.createGroup('Analysts of Grace', []);
}, 60_000);
afterAll(() => rig.bridge.stop());

/** Searches page by page to the end. */
async function found(text: string, limit = 50) {
  const hits: any[] = [];
  let place: string | undefined;
  do {
    const { status, body } = await rig.operator.post('/search', { text, limit, ...(place && { place }) });
    expect(status).toBe(200);
    hits.push(...body.found);
    place = body.next ?? undefined;
  } while (place !== undefined);
  return hits;
}
const names = async (text: string) => (await found(text)).map(({ name }) => name).sort();

test.each([
  ['ADA@', ['ada@acme.example']],
  ['ovelac', ['ada@acme.example']],
  ['x-18', ['ada@acme.example']],
  ['jürgen müll', ['u4711@acme.example']],
  ['MÜLLER', ['u4711@acme.example']],
  ['محمد', ['u4712@acme.example']],
  ['ελένη', ['u4713@acme.example']],
  ['u471', ['u4711@acme.example', 'u4712@acme.example', 'u4713@acme.example']],
  ['amazing.gr', ['grace@acme.example']],
  ['grace', ['Analysts of Grace', 'grace@acme.example']],
  ['*[a]?\\', ['star*[a]?\\@acme.example']],
  ['**', []],
  ['schemas', []],
  ['nobody', []],
])('a search of users and groups for the text %s returns exactly %j', async (text, expected) => {
  expect(await names(text)).toEqual(expected);
});

test('a search for a part of an id finds the user, and a result has connection, kind, mail address and active state', async () => {
  const [{ ref }] = await found('ada@');
  // A part of the id: all but its first two characters.
  expect(await found(ref.slice('User:'.length).slice(2))).toMatchObject([{ ref }]);
  expect(await found('amazing')).toMatchObject([
    { connection: 'default', kind: 'User', mail: 'Amazing.Grace@navy.example', active: false },
  ]);
});

test('a search that matches all users returns each of them once, with pages of one record and of two records', async () => {
  expect(await found('acme', 1)).toHaveLength(PEOPLE.length);
  expect(new Set((await found('acme', 2)).map(({ ref }) => ref)).size).toBe(PEOPLE.length);
});

test('a search over 12 users with records of 60 kB, read in several portions, returns all 12 users', async () => {
  const names = Array.from({ length: 12 }, (_, number) => `large${number}@acme.example`);
  await Promise.all(names.map((name) => rig.bridge.idp.createUser(name, { title: 'x'.repeat(60_000) })));
  expect((await found('large')).map(({ name }) => name).sort()).toEqual(names.sort());
});

test.each([
  [{ text: 'a' }],
  [{ text: 'x'.repeat(201) }],
  // A place is `<connection>-<phase>.<cursor>`; there is no connection 9, and no phase 3.
  [{ text: 'ada', place: '9-0.0' }],
  [{ text: 'ada', place: '0-3.0' }],
  [{ text: 'ada', place: '__proto__' }],
  [{}],
])('the search request %j answers 400', async (body) => {
  expect((await rig.operator.post('/search', body)).status).toBe(400);
});
