// Tests concurrent pushes to several replicas on one Redis.
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp } from '../support/idp.ts';
import { TOKEN } from '../support/build-bridge.ts';

let bridge: Bridge;
beforeAll(async () => {
  bridge = await buildBridge();
});
afterAll(() => bridge.stop());

test('three replicas on one Redis create each account once and apply every change once', async () => {
  const others = [await bridge.another(), await bridge.another()];
  const idps = [
    bridge.idp,
    ...others.map(({ port }) => createIdp(`http://127.0.0.1:${port}/scim/v2`, TOKEN)),
  ];
  const idp = (index: number) => idps[index % idps.length] ?? bridge.idp;
  const ids = await Promise.all(
    Array.from({ length: 60 }, (_, index) => idp(index).createUser(`r${index}@acme.example`)),
  );
  const group = await bridge.idp.createGroup('replicated');
  await Promise.all(
    ids.map((id, index) =>
      idp(index).patch(`/Groups/${group}`, { op: 'add', path: 'members', value: [{ value: id }] }),
    ),
  );
  await eventually(
    'all there',
    async () => (await bridge.platform.group('replicated'))?.members.length === 60,
    30_000,
  );
  const { users } = await bridge.platform.state();
  expect(users.filter(({ userName }) => /^r\d+@/.test(userName))).toHaveLength(60);
  const creations = (await bridge.platform.writes()).filter(
    ({ method, path }) => method === 'POST' && path.endsWith('/Users'),
  );
  expect(creations).toHaveLength(60);
}, 60_000);

test('50 concurrent writers of one user lose no update and get no 5xx', async () => {
  const id = await bridge.idp.createUser('shared@acme.example');
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      bridge.idp.patch(`/Users/${id}`, {
        op: 'add',
        path: 'phoneNumbers',
        value: [{ value: `+1 555 ${index}`, type: 'other' }],
      }),
    ),
  );
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  expect((await bridge.idp.send('GET', `/Users/${id}`)).body.phoneNumbers).toHaveLength(50);
});

test('two writers send the same If-Match → exactly one succeeds, and the other gets 412', async () => {
  const id = await bridge.idp.createUser('versioned@acme.example');
  const change = (title: string) =>
    bridge.idp.send(
      'PATCH',
      `/Users/${id}`,
      {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
        Operations: [{ op: 'replace', path: 'title', value: title }],
      },
      { 'if-match': 'W/"1"' },
    );
  const statuses = (await Promise.all([change('a'), change('b')])).map(({ status }) => status).sort();
  expect(statuses).toEqual([200, 412]);
});
