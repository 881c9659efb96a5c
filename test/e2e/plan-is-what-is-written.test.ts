// Compares the entries of a plan with the writes at the platform when it is applied, for every kind of change.
import type { Plan } from '../../src/reconcile/plan.ts';
import { isChange, type PlanEntry } from '../../src/reconcile/entry.ts';
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { openReconciling, scimPatch, type Reconciling } from '../support/reconciling.ts';
import { createWrittenFacts, type Facts } from '../support/written-facts.ts';

let bridge: Bridge;
let rec: Reconciling;
const ids = new Map<string, string>();
const mail = (name: string): string => `${name}@acme.example`;
const COUNTRY = 'urn:cube:params:1.0:UserAttribute:country';
const country = (value: string) => ({ addresses: [{ type: 'work', country: value }] });

beforeAll(async () => {
  bridge = await buildBridge({
    configure: (config) => {
      const { main } = config.targets;
      if (!main) throw new Error('no target');
      main.attributes = {
        country: { type: 'string', from: 'addresses[type eq "work"].country', onEmpty: 'clear' },
        contractor: { type: 'boolean', expression: 'userType = "Contractor"', onEmpty: 'keep' },
        badge: { type: 'number', from: 'title', onEmpty: 'clear' },
      };
      main.users.scope = 'nickName ne "outside"';
      for (const kind of ['deactivate', 'delete', 'removeMembers', 'clearAttributes'] as const)
        main.guard[kind] = { count: 1000, percent: 100 };
    },
  });
  rec = await openReconciling(bridge);
}, 60_000);
afterAll(async () => {
  await rec.stop();
  await bridge.stop();
});

const scimId = async (name: string) => (await bridge.platform.user(mail(name)))?.scimId ?? '';
const groupId = async (name: string) =>
  (await bridge.platform.state()).groups.find(({ displayName }) => displayName === name)?.scimId ?? '';
const createUser = async (name: string, extra: object = country('PT')): Promise<void> =>
  void ids.set(name, await bridge.idp.createUser(mail(name), extra));
const createGroup = async (name: string, members: string[]): Promise<void> =>
  void ids.set(
    name,
    await bridge.idp.createGroup(
      name,
      members.map((member) => ids.get(member) ?? ''),
    ),
  );
const pushUser = (name: string, ...operations: object[]) =>
  bridge.idp.patch(`/Users/${ids.get(name)}`, ...operations);
const pushGroup = (name: string, ...operations: object[]) =>
  bridge.idp.patch(`/Groups/${ids.get(name)}`, ...operations);
const meddleUser = async (name: string, ...operations: object[]) =>
  rec.meddle('PATCH', `/api/scim/v2/Users/${await scimId(name)}`, scimPatch(...operations));
const meddleGroup = async (name: string, ...operations: object[]) =>
  rec.meddle('PATCH', `/api/scim/v2/Groups/${await groupId(name)}`, scimPatch(...operations));
const removeAccount = async (name: string) =>
  rec.meddle('DELETE', `/api/scim/v2/Users/${await scimId(name)}`);
const removeGroup = async (name: string) =>
  rec.meddle('DELETE', `/api/scim/v2/Groups/${await groupId(name)}`);

/** Returns the facts that the entries promise: `<kind> <name> <value>` → old and new value. */
function promised({ entries }: Plan): Facts {
  const facts: Facts = new Map();
  for (const entry of entries.filter(isChange))
    for (const [key, values] of factsOf(entry)) facts.set(key, values);
  return facts;
}

function* factsOf(entry: PlanEntry): Generator<[string, { before: unknown; after: unknown }]> {
  const { action, kind, name, member, attribute, before, after } = entry;
  const subject = `${kind} ${name.toLowerCase()}`;
  if (action === 'adopt' || action === 'relink') return;
  if (action === 'defineAttribute') yield [`Attribute ${name}`, { before: null, after: after?.type }];
  else if (action === 'delete') yield [subject, { before: 'exists', after: null }];
  else if (member)
    yield [
      `${subject} member ${member.name.toLowerCase()}`,
      { before: before?.member, after: after?.member },
    ];
  else
    for (const key of new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])) {
      const path = attribute === undefined ? key : `attributes.${key}`;
      yield [`${subject} ${path}`, { before: before?.[key] ?? null, after: after?.[key] ?? null }];
    }
}

const sorted = (facts: Facts) => Object.fromEntries([...facts].sort(([a], [b]) => (a < b ? -1 : 1)));

/** Makes changes while the target is on hold, plans, applies, and compares. */
async function planned(cause: () => Promise<unknown>): Promise<Plan> {
  const [first] = rec.scopes;
  if (!first) throw new Error('no scope');
  const { guardStore } = first.scope.outbox;
  await guardStore.hold('ops');
  await cause();
  const written = await createWrittenFacts(bridge.platform);
  const plan = await rec.plan({ full: true });
  await expect(bridge.platform.writes()).resolves.toEqual([]);
  await guardStore.release();
  await rec.run({ full: true });
  await rec.untilSynced();
  const facts = await written.facts();
  expect(sorted(promised(plan))).toEqual(sorted(facts));
  expect(facts.size).toBeGreaterThan(0);
  const again = await rec.plan({ full: true });
  expect(promised(again)).toEqual(new Map());
  return plan;
}
const actions = ({ entries }: Plan): string[] =>
  [...new Set(entries.filter(isChange).map(({ action, kind }) => `${action} ${kind}`))].sort();

test('a plan of a first load lists exactly the definitions, accounts with values, groups and members that are then written', async () => {
  const plan = await planned(async () => {
    await createUser('ann', { ...country('PT'), userType: 'Contractor', title: '7' });
    await createUser('ben', { ...country('SE'), active: false });
    await createUser('cho');
    await createUser('dan');
    await createUser('eve', { ...country('PT'), title: '3' });
    await createUser('fay');
    await createUser('gus');
    await createGroup('analysts', ['ann', 'ben', 'cho']);
    await createGroup('everybody', ['ann', 'ben', 'cho', 'dan', 'eve', 'fay', 'gus']);
    await createGroup('writers', ['ann', 'dan']);
  });
  expect(actions(plan)).toEqual([
    'addMember Group',
    'create Group',
    'create User',
    'defineAttribute Attribute',
  ]);
  expect(plan.entries.find(({ name }) => name === mail('ann'))?.after).toMatchObject({
    'attributes.country': 'PT',
    'attributes.contractor': true,
    'attributes.badge': 7,
  });
}, 60_000);

test('a plan of pushed changes of names, values, activity, members, groups and deletions lists exactly what is then written', async () => {
  const plan = await planned(async () => {
    await pushUser(
      'ann',
      { op: 'replace', path: 'displayName', value: 'Ann New' },
      { op: 'remove', path: 'title' },
    );
    await pushUser('cho', { op: 'replace', path: 'addresses', value: country('DE').addresses });
    await pushUser('ben', { op: 'replace', path: 'active', value: true });
    await pushUser('dan', { op: 'replace', path: 'active', value: false });
    await pushUser('eve', { op: 'replace', path: 'nickName', value: 'outside' });
    await bridge.idp.send('DELETE', `/Users/${ids.get('fay')}`);
    await pushGroup('analysts', { op: 'replace', path: 'displayName', value: 'Analysts of data' });
    await pushGroup('analysts', { op: 'add', path: 'members', value: [{ value: ids.get('gus') }] });
    await pushGroup('everybody', { op: 'remove', path: `members[value eq "${ids.get('cho')}"]` });
    await bridge.idp.send('DELETE', `/Groups/${ids.get('writers')}`);
  });
  expect(actions(plan)).toEqual([
    ...['addMember Group', 'clearAttribute User', 'deactivate User', 'delete Group', 'reactivate User'],
    ...['removeMember Group', 'setAttribute User', 'update Group', 'update User'],
  ]);
}, 60_000);

test('a plan of core values that the source emptied, and of a userName in other letter case, lists exactly what is then written', async () => {
  const emptied = ['displayName', 'emails', 'name.givenName', 'externalId'];
  const plan = await planned(async () => {
    await pushUser('gus', ...emptied.map((path) => ({ op: 'remove', path })));
    await pushUser('ann', { op: 'replace', path: 'userName', value: 'ANN@acme.example' });
  });
  expect(actions(plan)).toEqual(['update User']);
  const [first] = rec.scopes;
  const link = await first?.scope.links.get('main', `User:${ids.get('gus') ?? ''}`);
  expect(link?.core).toMatchObject({ displayName: null, externalId: null });

  await planned(async () => {
    await meddleUser('gus', { op: 'replace', path: 'displayName', value: 'By hand' });
    await pushUser('ann', { op: 'replace', path: 'userName', value: mail('ann') });
  });
  expect((await bridge.platform.user(mail('gus')))?.displayName ?? null).toBeNull();
}, 60_000);

test('a plan of values, activity, members and names changed at the platform lists exactly what is then written', async () => {
  await planned(async () => {
    await meddleUser('ann', { op: 'replace', path: 'displayName', value: 'Meddled' });
    await meddleUser('cho', { op: 'replace', path: COUNTRY, value: 'XX' });
    await meddleUser('gus', { op: 'replace', path: 'active', value: false });
    await meddleUser('dan', { op: 'replace', path: 'active', value: true });
    await meddleGroup('everybody', { op: 'remove', path: `members[value eq "${await scimId('ann')}"]` });
    await meddleGroup('Analysts of data', { op: 'replace', path: 'displayName', value: 'seized' });
  });
}, 60_000);

test('a plan after accounts and groups were deleted at the platform lists exactly what is then created again', async () => {
  const plan = await planned(async () => {
    await removeAccount('ann');
    await removeGroup('everybody');
  });
  expect(actions(plan)).toEqual(['addMember Group', 'create Group', 'create User']);
}, 60_000);

test('a plan that links existing accounts and groups by their names lists exactly what is then written', async () => {
  const plan = await planned(async () => {
    await removeAccount('cho');
    await removeGroup('Analysts of data');
    await rec.meddle('POST', '/api/scim/v2/Users', {
      userName: 'CHO@acme.example',
      displayName: 'Somebody',
      active: true,
      'urn:cube:params:1.0:UserAttribute': { country: 'ES', badge: 4 },
    });
    await rec.meddle('POST', '/api/scim/v2/Groups', { displayName: 'ANALYSTS of data' });
    await meddleGroup('ANALYSTS of data', {
      op: 'add',
      path: 'members',
      value: [{ value: await scimId('ann') }],
    });
  });
  expect(actions(plan)).toEqual([
    ...['addMember Group', 'clearAttribute User', 'relink Group', 'relink User'],
    ...['setAttribute User', 'update Group', 'update User'],
  ]);
}, 60_000);

test('a plan of adopted accounts and groups with differences lists exactly what is then written', async () => {
  const plan = await planned(async () => {
    for (const name of ['hal', 'ida'])
      await rec.meddle('POST', '/api/scim/v2/Users', {
        userName: mail(name),
        displayName: 'Other',
        active: true,
        'urn:cube:params:1.0:UserAttribute': { country: 'ES', badge: 4 },
      });
    await rec.meddle('POST', '/api/scim/v2/Groups', { displayName: 'readers' });
    await meddleGroup('readers', { op: 'add', path: 'members', value: [{ value: await scimId('ida') }] });
    await createUser('hal', { active: false });
    await createUser('ida', country('PT'));
    await createGroup('readers', ['ann', 'ida']);
    await pushGroup('everybody', { op: 'add', path: 'members', value: [{ value: ids.get('ida') }] });
  });
  expect(actions(plan)).toEqual(
    [
      ...['addMember Group', 'adopt Group', 'adopt User', 'clearAttribute User', 'deactivate User'],
      ...['setAttribute User', 'update User'],
    ].sort(),
  );
}, 60_000);

test('a plan of a user who is back in scope, and of the deletion of an adopted group, lists exactly what is then written', async () => {
  const { entries } = await planned(async () => {
    await pushUser('eve', { op: 'remove', path: 'nickName' });
    await pushGroup('readers', { op: 'remove', path: `members[value eq "${ids.get('ida')}"]` });
    await bridge.idp.send('DELETE', `/Groups/${ids.get('readers')}`);
  });
  const reasons = entries.flatMap(({ action, reason }) => (action === 'addMember' ? [reason] : []));
  expect(reasons).toEqual(['member at the source; the account is managed again']);
}, 60_000);

test('a plan of a deleted person who is pushed again lists exactly the takeover, activation and clearings that are then written', async () => {
  await createUser('jon', { ...country('PT'), title: '7' });
  await rec.untilSynced();
  await bridge.idp.send('DELETE', `/Users/${ids.get('jon')}`);
  await rec.untilSynced();
  const plan = await planned(async () => {
    await createUser('jon', country('ES'));
    await pushGroup('everybody', { op: 'add', path: 'members', value: [{ value: ids.get('jon') }] });
  });
  expect(actions(plan)).toEqual([
    ...['addMember Group', 'adopt User', 'clearAttribute User', 'reactivate User', 'setAttribute User'],
  ]);
}, 60_000);
