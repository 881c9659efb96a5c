// Tests the number of writes: it depends on the change and not on the size of users and groups.
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { targetHealth } from '../support/health.ts';

let bridge: Bridge;
beforeAll(async () => {
  bridge = await buildBridge({
    configure: (config) => {
      Object.assign(config.targets.main?.attributes ?? {}, {
        country: { type: 'string', from: 'addresses[type eq "work"].country', onEmpty: 'clear' },
        level: { type: 'number', from: 'urn:cube:params:1.0:UserAttribute:level', onEmpty: 'keep' },
      });
    },
  });
});
afterAll(() => bridge.stop());

/** Waits until nothing is left to apply. */
const untilSynced = () =>
  eventually(
    'nothing is dirty',
    async () => {
      const { dirty, inflight } = await targetHealth(bridge);
      return dirty === 0 && inflight === 0;
    },
    60_000,
  );

test('a change of one attribute causes one write to the platform', async () => {
  const { idp, platform } = bridge;
  const id = await idp.createUser('one@acme.example', {
    addresses: [{ type: 'work', country: 'PT' }],
    'urn:cube:params:1.0:UserAttribute': { level: 1 },
  });
  await untilSynced();
  await platform.forgetRequests();
  await idp.patch(`/Users/${id}`, { op: 'Replace', path: 'addresses[type eq "work"].country', value: 'DE' });
  await untilSynced();
  expect((await platform.user('one@acme.example'))?.attributes).toMatchObject({ country: 'DE', level: 1 });
  expect(await platform.writes()).toHaveLength(1);
  await platform.forgetRequests();
  await idp.patch(`/Users/${id}`, { op: 'replace', path: 'displayName', value: 'Another Name' });
  await untilSynced();
  const calls = await platform.requests();
  expect(calls.map(({ method }) => method)).toEqual(['PATCH']);
});

test('an attribute whose source value disappears is cleared at the platform', async () => {
  const { idp, platform } = bridge;
  const id = await idp.createUser('clear@acme.example', { addresses: [{ type: 'work', country: 'PT' }] });
  await untilSynced();
  await idp.patch(`/Users/${id}`, { op: 'remove', path: 'addresses' });
  await untilSynced();
  expect((await platform.user('clear@acme.example'))?.attributes.country ?? null).toBeNull();
});

test('a group gets a thousand members in portions, and one further member by one PATCH with one member and no read', async () => {
  const { idp, platform } = bridge;
  const ids: string[] = [];
  for (let start = 0; start < 1000; start += 50) {
    const some = Array.from({ length: 50 }, (_, index) => idp.createUser(`m${start + index}@acme.example`));
    ids.push(...(await Promise.all(some)));
  }
  await untilSynced();
  await platform.forgetRequests();
  const group = await idp.createGroup('everybody', ids);
  await untilSynced();
  expect((await platform.group('everybody'))?.members).toHaveLength(1000);
  const patches = (await platform.requests()).filter(({ method }) => method === 'PATCH');
  expect(patches).toHaveLength(10);

  const extra = await idp.createUser('extra@acme.example');
  await untilSynced();
  await platform.forgetRequests();
  await idp.patch(`/Groups/${group}`, { op: 'add', path: 'members', value: [{ value: extra }] });
  await untilSynced();
  const calls = await platform.requests();
  expect(calls).toHaveLength(1);
  expect(calls[0]?.body.Operations).toEqual([
    { op: 'add', path: 'members', value: [{ value: expect.any(String) }] },
  ]);

  await platform.forgetRequests();
  await idp.patch(`/Groups/${group}`, {
    op: 'Remove',
    path: 'members',
    value: [{ value: extra, $ref: null }],
  });
  await untilSynced();
  expect(await platform.requests()).toHaveLength(1);
  expect((await platform.group('everybody'))?.members).toHaveLength(1000);
}, 120_000);

test('20 parallel PATCHes add members to one group → every member is stored and written', async () => {
  const { idp, platform } = bridge;
  const ids = await Promise.all(
    Array.from({ length: 20 }, (_, index) => idp.createUser(`par${index}@acme.example`)),
  );
  const group = await idp.createGroup('parallel');
  const answers = await Promise.all(
    ids.map((id) =>
      idp.patch(`/Groups/${group}`, { op: 'Add', path: 'members', value: [{ value: id, $ref: null }] }),
    ),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
  expect((await idp.send('GET', `/Groups/${group}`)).body.members).toHaveLength(20);
  await untilSynced();
  expect((await platform.group('parallel'))?.members).toHaveLength(20);
});
