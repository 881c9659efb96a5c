// Tests doubtful answers of the platform: the bridge neither activates nor removes nor deletes, and reports why (contract 12).
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { targetHealth } from '../support/health.ts';
import { openReconciling, type Reconciling } from '../support/reconciling.ts';
import { createScenarios } from '../support/scenario.ts';

const EXTENSION = 'urn:cube:params:1.0:UserAttribute';

interface Context {
  bridge: Bridge;
  rec: Reconciling;
}

async function openContext(): Promise<Context> {
  const bridge = await buildBridge({
    configure: ({ targets: { main } }) => {
      if (!main) return;
      Object.assign(main.attributes, {
        level: { type: 'number', from: `${EXTENSION}:level`, onEmpty: 'keep' },
        contractor: { type: 'boolean', expression: 'userType = "Contractor"', onEmpty: 'keep' },
        regions: { type: 'string_array', expression: '["north", "south"]', onEmpty: 'keep' },
      });
      main.groupsRolesMap = { builders: 'Developer' };
      main.users.deprovision = 'delete';
    },
  });
  return { bridge, rec: await openReconciling(bridge) };
}

const test = createScenarios(openContext, async ({ bridge, rec }) => {
  await rec.stop();
  await bridge.stop();
});

const active = ({ platform }: Bridge, userName: string) =>
  eventually(`${userName} is active`, async () => (await platform.user(userName))?.active, 20_000);

test('BRIDGE-04 lists and booleans are written by value calls only, never in a SCIM body', async ({
  bridge,
}) => {
  await bridge.platform.forgetRequests();
  await bridge.idp.createUser('lists@acme.example', { userType: 'Contractor' });
  await active(bridge, 'lists@acme.example');
  const user = await bridge.platform.user('lists@acme.example');
  expect(user?.attributes).toMatchObject({ contractor: true, regions: ['north', 'south'] });
  const writes = await bridge.platform.writes();
  const values = writes.filter(({ path }) => path.endsWith('/user-attribute-values'));
  expect(values.map(({ body }) => body.value)).toEqual(expect.arrayContaining([true, ['north', 'south']]));
  const scim = writes.filter(({ path }) => path.includes('/scim/')).map(({ body }) => JSON.stringify(body));
  expect(scim.length).toBeGreaterThan(0);
  for (const body of scim) expect(body).not.toMatch(/contractor|regions|north/);
}, 40_000);

test('BRIDGE-07 a reconcile that reads a truncated user list deletes no account and changes none', async ({
  bridge,
  rec,
}) => {
  for (let place = 0; place < 45; place += 1) await bridge.idp.createUser(`p${place}@acme.example`);
  await rec.untilSynced();
  const people = async () =>
    (await bridge.platform.state()).users
      .filter(({ userName }) => /^p\d+@/.test(userName))
      .map(({ userName, active: isActive }) => ({ userName, isActive }));
  const before = await people();
  expect(before).toHaveLength(45);
  await bridge.platform.forgetRequests();
  for (const mode of ['total', 'page']) {
    const cut = { method: 'GET', path: '/scim/v2/Users', truncateLists: { share: 1, keep: 0.5, mode } };
    await bridge.platform.control('PATCH', '/faults', { rules: [cut] });
    await rec.run().catch((error: unknown) => expect(error).toBeInstanceOf(Error));
  }
  await bridge.platform.control('PATCH', '/faults', {});
  await rec.untilSynced();
  const asked = await bridge.platform.requests();
  expect(
    asked.filter(({ method, path }) => method === 'GET' && path.endsWith('/Users')).length,
  ).toBeGreaterThan(1);
  expect((await bridge.platform.writes()).filter(({ method }) => method === 'DELETE')).toEqual([]);
  expect(await people()).toEqual(before);
}, 90_000);

test('BRIDGE-10 a user is removed from a group with roles → the log warns that the roles remain', async ({
  bridge,
}) => {
  const id = await bridge.idp.createUser('builder@acme.example');
  const group = await bridge.idp.createGroup('builders', [id]);
  await eventually('in the group', async () =>
    (await bridge.platform.user('builder@acme.example'))?.groups.includes('builders'),
  );
  bridge.logs.splice(0);
  await bridge.idp.patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${id}"]` });
  await eventually(
    'out of the group',
    async () => (await bridge.platform.user('builder@acme.example'))?.groups.length === 0,
  );
  // The warning is logged after the write.
  const told = await eventually('it is reported', () =>
    Promise.resolve(bridge.logs.find((line) => line.includes('carries roles'))),
  );
  expect(JSON.parse(told)).toMatchObject({ ref: `Group:${group}` });
}, 40_000);

test('BRIDGE-12 an account whose externalId was changed at the platform is not deleted with its person, who becomes a dead letter', async ({
  bridge,
  rec,
}) => {
  const id = await bridge.idp.createUser('other@acme.example');
  await active(bridge, 'other@acme.example');
  const account = await bridge.platform.user('other@acme.example');
  const path = `/api/scim/v2/Users/${account?.scimId}`;
  await rec.meddle('PATCH', path, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'replace', path: 'externalId', value: 'somebody-else' }],
  });
  const mine = await bridge.idp.createUser('mine@acme.example');
  await active(bridge, 'mine@acme.example');
  await bridge.idp.send('DELETE', `/Users/${mine}`);
  await bridge.idp.send('DELETE', `/Users/${id}`);
  await eventually(
    'the one that is ours is deleted',
    async () => (await bridge.platform.user('mine@acme.example')) === undefined,
  );
  await eventually('the other waits for a person', async () => (await targetHealth(bridge)).blocked === 1);
  expect(await bridge.platform.user('other@acme.example')).toMatchObject({ externalId: 'somebody-else' });
}, 40_000);

test("BRIDGE-03 the platform's user list cannot be read → a new user whose values need the account id stays inactive, with the condition AttributesNotWritten", async ({
  bridge,
}) => {
  const hidden = { method: 'GET', path: '^/api/v1/users$', htmlAnswer: true };
  await bridge.platform.control('PATCH', '/faults', { rules: [hidden] });
  const id = await bridge.idp.createUser('hidden@acme.example', { [EXTENSION]: { level: 3 } });
  const told = await eventually('it is reported', () =>
    Promise.resolve(
      bridge.logs.find((line) => line.includes(`User:${id}`) && line.includes('AttributesNotWritten')),
    ),
  );
  expect(told).not.toContain('hidden@acme.example');
  // A single number fits into the SCIM body and needs no account id; lists and booleans do.
  expect(await bridge.platform.user('hidden@acme.example')).toMatchObject({
    active: false,
    attributes: { level: 3 },
  });
}, 40_000);
