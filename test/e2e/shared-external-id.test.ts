// Tests users with equal externalIds (Entra's default mailNickname): each user has an account and rows of their own.
import type { Config } from '../../src/config/schema.ts';
import type { ProfileName } from '../../src/scim/index.ts';
import { buildBridge, TOKEN, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp } from '../support/idp.ts';
import { openReconciling } from '../support/reconciling.ts';

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const useProfile =
  (profile: ProfileName) =>
  ({ connections }: Config): void => {
    if (connections.default) connections.default.profile = profile;
  };

let bridge: Bridge;
beforeAll(async () => {
  bridge = await buildBridge({
    configure: (config) => {
      const { main } = config.targets;
      useProfile('entra')(config);
      if (!main) return;
      main.timeoutMs = 2000;
      Object.assign(main.attributes, {
        country: { type: 'string', from: 'addresses[type eq "work"].country', onEmpty: 'clear' },
      });
    },
  });
});
afterAll(() => bridge.stop());

const person = (externalId: string, country: string): object => ({
  externalId,
  addresses: [{ type: 'work', country }],
});
const countryOf = async (userName: string): Promise<unknown> => {
  const user = await bridge.platform.user(userName);
  return user?.active ? user.attributes.country : undefined;
};
const idsOf = async (externalId: string): Promise<string[]> => {
  const filter = encodeURIComponent(`externalId eq "${externalId}"`);
  const { body } = await bridge.idp.send('GET', `/Users?filter=${filter}`);
  return body.Resources.map(({ id }: { id: string }) => id).sort();
};

test('two users share an externalId → each gets an account, also when the answers to their creates are lost', async () => {
  const { idp, platform } = bridge;
  const lost = { method: 'POST', path: '/scim/v2/Users$', times: 2, timeoutAfterCommit: { share: 1 } };
  await platform.control('PATCH', '/faults', { rules: [lost] });
  const ids = await Promise.all([
    idp.createUser('jo@north.example', person('jo', 'NO')),
    idp.createUser('jo@south.example', person('jo', 'PT')),
  ]);
  const both = async () => [await countryOf('jo@north.example'), await countryOf('jo@south.example')];
  await eventually('each has the own rows', async () => (await both()).join() === 'NO,PT', 20_000);
  await platform.control('PATCH', '/faults', {});
  expect((await platform.state()).users.filter(({ userName }) => userName.startsWith('jo@'))).toHaveLength(2);
  expect(await idsOf('jo')).toEqual(ids.sort());
}, 40_000);

test('an account gets linked to another user during a lookup by externalId → the account is not adopted', async () => {
  const { idp, platform } = bridge;
  const rules = [
    { method: 'GET', path: '/scim/v2/Users$', times: 1, latencyMs: 1200 },
    { method: 'POST', path: '/scim/v2/Users$', times: 1, timeoutAfterCommit: { share: 1 } },
  ];
  await platform.control('PATCH', '/faults', { rules });
  await idp.createUser('lee@north.example', person('lee', 'NO'));
  // No other user has the externalId yet; when the platform answers, one has it, and its account is not linked.
  await new Promise((resolve) => setTimeout(resolve, 400));
  await idp.createUser('lee@south.example', person('lee', 'PT'));
  const both = async () => [await countryOf('lee@north.example'), await countryOf('lee@south.example')];
  await eventually('each has the own rows', async () => (await both()).join() === 'NO,PT', 20_000);
  await platform.control('PATCH', '/faults', {});
  const renamed = (await platform.writes()).filter(
    ({ method, body }) => method === 'PATCH' && JSON.stringify(body).includes('"lee@'),
  );
  expect(renamed).toEqual([]);
}, 40_000);

test('two users keep a shared externalId when either is changed, and after the deletion of one the externalId identifies the other', async () => {
  const { idp } = bridge;
  const ids = await idsOf('jo');
  for (const id of ids)
    expect((await idp.patch(`/Users/${id}`, { op: 'replace', path: 'title', value: id })).status).toBe(204);
  expect(await idsOf('jo')).toEqual(ids);
  const [first = '', second = ''] = ids;
  await idp.send('DELETE', `/Users/${first}`);
  expect(await idsOf('jo')).toEqual([second]);
  await idp.patch(`/Users/${second}`, { op: 'replace', path: 'title', value: 'alone' });
  expect(await idsOf('jo')).toEqual([second]);
});

test('POST with the externalId of a deactivated user creates a new user for another userName, and returns the former user for its own userName', async () => {
  const { idp, platform } = bridge;
  const former = await idp.createUser('sam@old.example', person('sam', 'NO'));
  await eventually('there', async () => (await countryOf('sam@old.example')) === 'NO');
  await idp.patch(`/Users/${former}`, { op: 'Replace', path: 'active', value: 'False' });
  const next = await idp.createUser('sam@new.example', person('sam', 'PT'));
  expect(next).not.toBe(former);
  await eventually('there', async () => (await countryOf('sam@new.example')) === 'PT');
  expect(await platform.user('sam@old.example')).toMatchObject({
    active: false,
    attributes: { country: 'NO' },
  });
  expect(await idp.createUser('sam@old.example', person('sam', 'SE'))).toBe(former);
});

test('a member value is the externalId of two users → the value is returned as pushed, and the second user does not become a member', async () => {
  const { idp } = bridge;
  const ids = await Promise.all(
    ['a', 'b'].map((each) => idp.createUser(`kim@${each}.example`, person('kim', 'NO'))),
  );
  const group = await idp.createGroup('named', ['kim', ids[0] ?? '']);
  const { body } = await idp.send('GET', `/Groups/${group}`);
  expect(body.members.map(({ value }: { value: string }) => value).sort()).toEqual(['kim', ids[0]].sort());
  const [, other = ''] = ids;
  expect((await idp.send('GET', `/Users/${other}`)).body.groups ?? []).toEqual([]);
});

test('the profile makes externalId unique → users who already share one can still be changed and deactivated', async () => {
  const { idp, platform, config } = bridge;
  const ids = await Promise.all(
    ['a', 'b'].map((each) => idp.createUser(`pat@${each}.example`, person('pat', 'NO'))),
  );
  await eventually(
    'there',
    async () => (await countryOf('pat@b.example')) && (await countryOf('pat@a.example')),
  );
  useProfile('okta')(config);
  const { port } = await bridge.another('api');
  const strict = createIdp(`http://127.0.0.1:${port}/scim/v2`, TOKEN);
  for (const id of ids) {
    const { status } = await strict.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
    expect(status).toBe(200);
  }
  const states = async () =>
    Promise.all(['a', 'b'].map(async (each) => (await platform.user(`pat@${each}.example`))?.active));
  await eventually('both have left', async () => (await states()).join() === 'false,false');
  const other = {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: 'new',
    externalId: 'pat',
  };
  expect((await strict.send('POST', '/Users', other)).body.userName).toBe('new');
  expect(await idsOf('pat')).toEqual(ids.sort());
});

test('two users share an externalId → reconcile finds no difference', async () => {
  const reconciling = await openReconciling(bridge);
  await reconciling.untilSynced();
  const { report } = await reconciling.run();
  expect(report.outcome).toBe('converged');
  await reconciling.stop();
});

test('under the profile okta a second user with the same externalId is answered 409 uniqueness', async () => {
  const strict = await buildBridge({ role: 'api', configure: useProfile('okta') });
  await strict.idp.createUser('one@acme.example', { externalId: 'one' });
  const { status, body } = await strict.idp.send('POST', '/Users', {
    schemas: [USER],
    userName: 'two',
    externalId: 'one',
  });
  expect([status, body.scimType]).toEqual([409, 'uniqueness']);
  await strict.stop();
});

describe.each(['auto', 'rfc', 'entra', 'lenient'] as const)('under the profile %s', (profile) => {
  let other: Bridge;
  beforeAll(async () => {
    other = await buildBridge({ configure: useProfile(profile) });
  });
  afterAll(() => other.stop());

  const account = (userName: string) => other.platform.user(userName);
  const financeAt = async (): Promise<string[]> =>
    (await other.platform.state()).groups.find(({ displayName }) => displayName === 'Finance')?.members ?? [];
  const isOpen = (userName: string) => async (): Promise<boolean> =>
    (await account(userName))?.active === true;
  const isClosed = (userName: string) => async (): Promise<boolean> =>
    (await account(userName))?.active === false;

  test("a new user with the externalId of a deactivated user gets a new id, a new account and none of that user's groups", async () => {
    const { idp } = other;
    const leaver = await idp.createUser('john.smith@acme.example', { externalId: 'jsmith' });
    await idp.createGroup('Finance', [leaver]);
    await eventually('in Finance', async () => (await financeAt()).includes('john.smith@acme.example'));
    await idp.patch(`/Users/${leaver}`, { op: 'replace', path: 'active', value: false });
    await eventually('closed', isClosed('john.smith@acme.example'));

    const newcomer = await idp.createUser('jane.smith@acme.example', { externalId: 'jsmith' });
    expect(newcomer).not.toBe(leaver);
    await eventually('open', isOpen('jane.smith@acme.example'));
    expect(await account('john.smith@acme.example')).toMatchObject({ active: false });
    expect(await financeAt()).not.toContain('jane.smith@acme.example');
    expect((await idp.send('GET', `/Users/${newcomer}`)).body.groups ?? []).toEqual([]);
    expect((await idp.send('GET', `/Users/${leaver}`)).body.userName).toBe('john.smith@acme.example');
  }, 40_000);

  test('the account of a deleted user is not given to a new user with the same externalId', async () => {
    const { idp } = other;
    const leaver = await idp.createUser('john.doe@acme.example', { externalId: 'jdoe' });
    await eventually('open', isOpen('john.doe@acme.example'));
    await idp.send('DELETE', `/Users/${leaver}`);
    await eventually('closed', isClosed('john.doe@acme.example'));
    await idp.createUser('jane.doe@acme.example', { externalId: 'jdoe' });
    await eventually('open', isOpen('jane.doe@acme.example'));
    expect(await account('john.doe@acme.example')).toMatchObject({ active: false });
  }, 40_000);
});
