// Tests every kind of drift: it is found, attributed and repaired, and a second run finds nothing.
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { brief, openReconciling, scimPatch, type Reconciling } from '../support/reconciling.ts';

let bridge: Bridge;
let rec: Reconciling;
const ids = new Map<string, string>();
const NAMES = ['ann', 'ben', 'cho', 'dan', 'eve', 'fay', 'gus'];

const country = (value: string) => ({ addresses: [{ type: 'work', country: value }] });
const scimId = async (name: string) => (await bridge.platform.user(`${name}@acme.example`))?.scimId ?? '';
const groupId = async (name: string) =>
  (await bridge.platform.state()).groups.find(({ displayName }) => displayName === name)?.scimId ?? '';
const patchUser = async (name: string, ...operations: object[]) =>
  rec.meddle('PATCH', `/api/scim/v2/Users/${await scimId(name)}`, scimPatch(...operations));
const patchGroup = async (name: string, ...operations: object[]) =>
  rec.meddle('PATCH', `/api/scim/v2/Groups/${await groupId(name)}`, scimPatch(...operations));

beforeAll(async () => {
  bridge = await buildBridge({
    configure: (config) => {
      Object.assign(config.targets.main?.attributes ?? {}, {
        country: { type: 'string', from: 'addresses[type eq "work"].country', onEmpty: 'clear' },
        contractor: { type: 'boolean', expression: 'userType = "Contractor"', onEmpty: 'keep' },
      });
    },
  });
  rec = await openReconciling(bridge);
  for (const name of NAMES) ids.set(name, await bridge.idp.createUser(`${name}@acme.example`, country('PT')));
  await bridge.idp.createGroup('analysts', [ids.get('ann') ?? '', ids.get('ben') ?? '']);
  await bridge.idp.createGroup('everybody', [...ids.values()]);
  await bridge.idp.patch(`/Users/${ids.get('gus')}`, { op: 'replace', path: 'active', value: false });
  await rec.untilSynced();
  const { report } = await rec.run();
  expect(report).toMatchObject({ outcome: 'converged', users: expect.any(Number) });
}, 60_000);
afterAll(async () => {
  await rec.stop();
  await bridge.stop();
});

/** Returns the entries without unmanaged accounts. */
const found = async (options = {}) =>
  (await rec.plan(options)).entries
    .filter(({ action }) => action !== 'unmanaged')
    .map(brief)
    .sort();

async function repaired(): Promise<void> {
  await expect(rec.run({ full: true })).resolves.toMatchObject({ report: { outcome: 'converged' } });
  await bridge.platform.forgetRequests();
  await expect(rec.run({ full: true })).resolves.toMatchObject({ report: { outcome: 'converged' } });
  await rec.untilSynced();
  await expect(bridge.platform.writes()).resolves.toEqual([]);
  await expect(found({ full: true })).resolves.toEqual([]);
}

test('a target without drift gives a plan without changes, and no write', async () => {
  await bridge.platform.forgetRequests();
  const plan = await rec.plan();
  expect(plan.proof).toMatchObject({ users: { complete: true }, groups: { complete: true } });
  expect(plan.entries.every(({ action }) => action === 'unmanaged')).toBe(true);
  await expect(bridge.platform.writes()).resolves.toEqual([]);
});

test('a reconcile finds and repairs changed core attributes, activity and attribute values', async () => {
  await patchUser('ann', { op: 'replace', path: 'displayName', value: 'Meddled' });
  await patchUser('ben', { op: 'replace', path: 'active', value: false });
  await patchUser('gus', { op: 'replace', path: 'active', value: true });
  await patchUser('cho', {
    op: 'replace',
    path: 'urn:cube:params:1.0:UserAttribute:country',
    value: 'XX',
  });
  await patchUser('dan', { op: 'remove', path: 'urn:cube:params:1.0:UserAttribute:country' });
  await expect(found()).resolves.toEqual([
    'deactivate | gus@acme.example | platform changed',
    'reactivate | ben@acme.example | platform changed',
    'setAttribute | cho@acme.example | country | platform changed',
    'setAttribute | dan@acme.example | country | platform changed',
    'update | ann@acme.example | platform changed',
  ]);
  await repaired();
  const state = await bridge.platform.state();
  const of = (name: string) => state.users.find(({ userName }) => userName === `${name}@acme.example`);
  expect([of('ann')?.displayName, of('ben')?.active, of('gus')?.active]).toEqual([
    'Jo ann@acme.example',
    true,
    false,
  ]);
  expect([of('cho')?.attributes.country, of('dan')?.attributes.country]).toEqual(['PT', 'PT']);
}, 60_000);

test("the platform's lists omit boolean values → a reconcile reads these values singly and finds a changed one", async () => {
  const { users, attributeDefinitions } = await bridge.platform.state();
  const eve = users.find(({ userName }) => userName === 'eve@acme.example');
  const definition = attributeDefinitions.find(({ name }: { name: string }) => name === 'contractor');
  const body = { userId: String(eve?.id), userAttributeId: String(definition.id), value: true };
  await rec.meddle('POST', '/api/v1/user-attribute-values', body);
  await expect(found()).resolves.toEqual(['setAttribute | eve@acme.example | contractor | platform changed']);
  await repaired();
  expect((await bridge.platform.user('eve@acme.example'))?.attributes.contractor).toBe(false);
}, 60_000);

test('BRIDGE-09 a reconcile adds removed members again, and reports members who were added at the platform', async () => {
  await patchGroup('analysts', { op: 'remove', path: `members[value eq "${await scimId('ann')}"]` });
  await patchGroup('analysts', { op: 'add', path: 'members', value: [{ value: await scimId('fay') }] });
  await expect(found()).resolves.toEqual(['addMember | analysts | ann@acme.example | platform changed']);
  const { entries } = await rec.plan();
  expect(entries.map(brief)).toContain('unmanaged | analysts | fay@acme.example | platform changed | report');
  await repaired();
  const group = await bridge.platform.group('analysts');
  expect(group?.members.sort()).toEqual(['ann@acme.example', 'ben@acme.example', 'fay@acme.example']);
}, 60_000);

test('a reconcile repairs a renamed group and creates a deleted group with its members', async () => {
  await patchGroup('analysts', { op: 'replace', path: 'displayName', value: 'seized' });
  await rec.meddle('DELETE', `/api/scim/v2/Groups/${await groupId('everybody')}`);
  await expect(found()).resolves.toEqual([
    ...NAMES.map((name) => `addMember | everybody | ${name}@acme.example | platform changed`),
    'create | everybody | platform changed',
    'update | analysts | platform changed',
  ]);
  await repaired();
  expect((await bridge.platform.group('everybody'))?.members).toHaveLength(NAMES.length);
  expect(await bridge.platform.group('seized')).toBeUndefined();
}, 60_000);

test('a reconcile creates deleted accounts again, or adopts an account that was created by hand in their place', async () => {
  await rec.meddle('DELETE', `/api/scim/v2/Users/${await scimId('ann')}`);
  await rec.meddle('DELETE', `/api/scim/v2/Users/${await scimId('ben')}`);
  await rec.meddle('POST', '/api/scim/v2/Users', { userName: 'BEN@acme.example', active: true });
  await expect(found()).resolves.toEqual([
    ...['analysts', 'everybody'].flatMap((group) =>
      ['ann', 'ben'].map((name) => `addMember | ${group} | ${name}@acme.example | platform changed`),
    ),
    'create | ann@acme.example | platform changed',
    'relink | ben@acme.example | platform changed',
    'setAttribute | ben@acme.example | contractor | platform changed',
    'setAttribute | ben@acme.example | country | platform changed',
    'update | ben@acme.example | platform changed',
  ]);
  await repaired();
  const { users } = await bridge.platform.state();
  expect(users.filter(({ userName }) => /^(ann|ben)@/i.test(userName))).toHaveLength(2);
  const ann = await bridge.platform.user('ann@acme.example');
  expect(ann).toMatchObject({ active: true, attributes: { country: 'PT', contractor: false } });
  expect(ann?.groups.sort()).toEqual(['analysts', 'everybody']);
}, 60_000);

test("a plan names the actor and time of a change from the platform's audit log", async () => {
  const { platform } = bridge;
  await platform.control('POST', '/fixtures', {
    users: [{ userName: 'mallory@acme.example', isAdmin: true }],
    apiKeys: [{ name: 'mallory', owner: 'mallory@acme.example' }],
  });
  const made = await platform.control('POST', '/fixtures', {
    apiKeys: [{ name: 'mallory-2', owner: 'mallory@acme.example' }],
  });
  const key = made.apiKeys[0].secret ?? made.apiKeys[0].key;
  const path = `/api/scim/v2/Users/${await scimId('dan')}`;
  const change = scimPatch({ op: 'replace', path: 'displayName', value: 'Mine' });
  await rec.meddle('PATCH', path, change, key);
  const { entries } = await rec.plan();
  expect(entries.find(({ action }) => action === 'update')?.attribution).toEqual({
    cause: 'platform changed',
    by: 'mallory@acme.example',
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
  });
  await repaired();
}, 60_000);

test('after the platform key was replaced while the process runs, and the former one revoked, a plan still names the actor of a change', async () => {
  const { platform } = bridge;
  const made = await platform.control('POST', '/fixtures', {
    users: [{ userName: 'operator@acme.example', isAdmin: true }],
    apiKeys: ['former', 'next'].map((name) => ({ name, owner: 'operator@acme.example' })),
  });
  const [former, next] = made.apiKeys.map((each: any) => each.secret ?? each.key);
  const config = structuredClone(bridge.config);
  const main = config.targets.main!;
  main.token = former;
  const own = await openReconciling(bridge, config);
  try {
    await own.plan();
    // The watch of the secret files sets the new key in the settings of the process.
    main.token = next;
    await platform.control('DELETE', '/api-keys/former');
    const path = `/api/scim/v2/Users/${await scimId('dan')}`;
    await rec.meddle('PATCH', path, scimPatch({ op: 'replace', path: 'displayName', value: 'Theirs' }));
    const { entries } = await own.plan();
    expect(entries.find(({ action }) => action === 'update')?.attribution).toMatchObject({
      cause: 'platform changed',
      by: expect.stringContaining('@'),
    });
  } finally {
    await own.stop();
  }
  await repaired();
}, 60_000);

test('an unmanaged account is listed in plan as unmanaged, and a reconcile does not change it', async () => {
  await rec.meddle('POST', '/api/scim/v2/Users', { userName: 'stranger@acme.example', active: true });
  const before = await bridge.platform.user('stranger@acme.example');
  const { plan } = await rec.run();
  expect(plan?.entries.map(brief)).toContain('unmanaged | stranger@acme.example | none | report');
  await expect(bridge.platform.user('stranger@acme.example')).resolves.toEqual(before);
}, 60_000);

test('a reconcile with onDrift: report finds a value changed at the platform, and writes nothing', async () => {
  await patchUser('ann', { op: 'replace', path: 'displayName', value: 'Meddled' });
  await bridge.platform.forgetRequests();
  await expect(rec.run({ repair: false })).resolves.toMatchObject({
    report: { outcome: 'drifted', counts: { update: 1 } },
  });
  await rec.untilSynced();
  await expect(bridge.platform.writes()).resolves.toEqual([]);
  await repaired();
}, 60_000);

test('a reconcile with onDrift: report finds a value changed at the platform and cannot read the list of groups → its message tells both', async () => {
  await patchUser('ann', { op: 'replace', path: 'displayName', value: 'Meddled' });
  const list = { method: 'GET', path: '/api/scim/v2/Groups', times: 9999 };
  await bridge.platform.control('PATCH', '/faults', {
    rules: [{ ...list, status5xx: { share: 1, status: 400 } }],
  });
  const { report } = await rec.run({ repair: false });
  await bridge.platform.control('PATCH', '/faults', { rules: [] });
  expect(report.outcome).toBe('unproven');
  expect(report.message).toMatch(
    /400.*; 1 difference: scim-bridge plan shows them, scim-bridge reconcile repairs them$/,
  );
  await repaired();
}, 60_000);
