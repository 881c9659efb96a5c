// Tests what the commands tell of a target that leads to another tenant with accounts of the same names, and what the
// acceptance of that tenant writes.
import '../support/load-modules.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { ADMIN_TOKEN } from '../support/build-bridge.ts';
import { commandsAt } from '../support/commands-at.ts';
import { eventually } from '../support/eventually.ts';
import { createPlatformView, type PlatformView } from '../support/platform-view.ts';
import { send } from '../support/send.ts';
import { openPlace, type Place } from '../support/situation.ts';
import { run } from '../support/situation-table.ts';

const NAMES = [0, 1, 2, 3, 4, 5].map((number) => `p${number}@acme.example`);
const isOpenThere = (name: string): boolean => NAMES.indexOf(name) < 3;
const EXTENSION = 'urn:cube:params:1.0:UserAttribute';

let place: Place;
let other: Sandbox;
let there: PlatformView;
beforeAll(async () => {
  place = await openPlace({
    target: {
      attributes: { level: { type: 'string', from: 'title' } },
      guard: { clearAttributes: { count: 1, percent: 100 } },
    },
  });
  const ids = [];
  for (const name of NAMES) ids.push(await place.idp.createUser(name));
  await place.idp.createGroup('crew', ids);
  await place.idle();
  await run(place, 'reconcile', '--yes');
  other = await startSandbox();
  there = createPlatformView(other.ready.controlUrl);
  const key = other.ready.fixtures.apiKeys.admin ?? '';
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await send(other.ready.platformUrl, 'POST', path, { headers, body });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`);
  };
  await post('/api/v1/user-attributes', { name: 'level', type: 'string' });
  for (const userName of NAMES)
    await post('/api/scim/v2/Users', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User', EXTENSION],
      userName,
      active: isOpenThere(userName),
      [EXTENSION]: { level: 'high' },
    });
  await there.forgetRequests();
  await place.change(({ targets }) => {
    Object.assign(targets.main ?? {}, { url: other.ready.platformUrl, token: key });
  });
  await eventually(
    'the start has asked',
    async () => /main may be another tenant/.test(await told('status')),
    20_000,
  );
}, 60_000);
afterAll(async () => {
  await place.stop();
  await other.stop();
});

const { told } = commandsAt(() => place);
const valuesThere = async () =>
  new Map(
    (await there.state()).users.map(({ userName, active, attributes }) => [
      userName,
      { active, level: attributes.level ?? null },
    ]),
  );

// A check of doctor sends HEAD.
const changesThere = async () => (await there.writes()).filter(({ method }) => method !== 'HEAD');

const ORDER = 'scim-bridge reconcile --target main --accept-tenant';

test('plan of a target that may be another tenant names the reason, lists the changes that --accept-tenant would make, and counts those that the guard would hold', async () => {
  const plan = await told('plan');
  expect(plan).toMatch(
    /! main may be another tenant: its address changed, and none of 6 linked accounts is there\./,
  );
  expect(plan).toContain(ORDER);
  expect(plan).toContain(
    '6 attributes to clear, 1 to create, 6 to adopt, 3 to activate, 6 memberships to add',
  );
  expect(plan).not.toContain('is gone');
  // The three values of open accounts; the sync does not ask for those of inactive accounts.
  expect(plan).toContain('The guard is to hold 3 of them');
}, 30_000);

test.each([
  ['status', ['status']],
  ['explain', ['explain', NAMES[0] ?? '']],
  ['exceptions', ['exceptions']],
  ['doctor', ['doctor']],
  ['release', ['release', '--target', 'main']],
])(
  '%s of a target that may be another tenant advises --accept-tenant, and not release',
  async (_command, args) => {
    const text = await told(...args);
    expect(text).toContain(ORDER);
    expect(text).toContain(
      'If not: correct targets.main.url, or the DNS entry or proxy that leads it there, and restart; the reconcile of the start ends the hold',
    );
    expect(text).not.toMatch(/release --target main|meant $/);
  },
  30_000,
);

test('a release of a target that may be another tenant is refused, and /health advises --accept-tenant', async () => {
  expect((await place.commands.run('release')).code).toBe(1);
  expect((await place.commands.run('status', '--json')).json[0].hold).toMatchObject({ by: 'reconcile' });
  const answer = await fetch(`http://127.0.0.1:${place.port}/health`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  const text = await answer.text();
  expect(text).toContain(ORDER);
  expect(text).not.toContain('order of an operator');
  expect(await changesThere()).toEqual([]);
}, 30_000);

test('--accept-tenant is refused without a terminal and without --yes', async () => {
  const answer = await place.commands.run('reconcile', '--target', 'main', '--accept-tenant');
  expect(answer).toMatchObject({ code: 1, text: expect.stringContaining('needs --yes') });
  expect(await changesThere()).toEqual([]);
}, 30_000);

test('after --accept-tenant the guard holds clearings at active accounts of the new tenant, and inactive accounts are cleared before their activation', async () => {
  const answer = await place.commands.run('reconcile', '--target', 'main', '--accept-tenant', '--yes');
  expect(answer.code).toBe(2);
  await place.idle();
  const values = await valuesThere();
  expect(NAMES.map((name) => values.get(name))).toEqual(
    NAMES.map((name) => ({ active: true, level: isOpenThere(name) ? 'high' : null })),
  );
  expect((await place.commands.run('approvals', 'list', '--json')).json).toEqual([
    expect.objectContaining({ kinds: expect.objectContaining({ clearAttributes: 3 }) }),
  ]);
  const writes = await changesThere();
  for (const { userName, id, scimId } of (await there.state()).users) {
    if (!NAMES.includes(userName) || isOpenThere(userName)) continue;
    const cleared = writes.findIndex(({ body }) => body?.userId === String(id) && body.value === null);
    const activated = writes.findIndex(
      ({ path, body }) =>
        path.endsWith(scimId) &&
        body?.Operations?.some((operation: any) => operation.path === 'active' && operation.value === true),
    );
    expect([userName, cleared >= 0, cleared < activated]).toEqual([userName, true, true]);
  }
}, 60_000);
