// Tests what becomes of a leaver who was protected as the owner of the platform key, after the key of another account took its place.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSandbox } from '../../src/sandbox/server.ts';
import { eventually } from '../support/eventually.ts';
import { startFront, type Front } from '../support/front.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';

let place: Place;
let front: Front;
afterEach(async () => {
  await place.stop();
  front.stop();
});

const run = (...args: string[]) => place.commands.run(...args);
const isActive = async (): Promise<boolean | undefined> => (await place.platform.user(ANN))?.active;

/** Answers as if the platform key belonged to this account. */
function giveKeyTo(username: string): void {
  const account = { id: 1, email: username, username, isAdmin: true };
  front.answer = (_, url) =>
    url.endsWith('/users/me')
      ? { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(account) }
      : undefined;
}

/** Opens a place in which ann owns the platform key and is protected. @returns the id of ann */
async function protectOwner(): Promise<string> {
  place = await openPlace({});
  front = await startFront();
  front.platformUrl = place.sandbox.ready.platformUrl;
  const ann = await place.idp.createUser(ANN);
  await place.idle();
  giveKeyTo(ANN);
  await place.change(({ targets: { main } }) => {
    main.url = front.url;
  });
  await run('reconcile', '--yes');
  // The first account that is made after the start makes the process read the owner of the key.
  await place.idp.createUser('bob@acme.example');
  await place.idle();
  return ann;
}

/** As `protectOwner`, and the source deletes ann. */
async function letOwnerLeave(): Promise<string> {
  const ann = await protectOwner();
  await place.idp.send('DELETE', `/Users/${ann}`);
  await place.idle();
  return ann;
}

const ANOTHER_OWNER = 'the key has another owner now';
const explained = async (ref: string): Promise<string> =>
  (await run('explain', ref, '--all')).text.replaceAll(/\s+/g, ' ');

test('the owner of the platform key leaves, and the key then gets another owner → explain says so, and the next reconcile closes the account', async () => {
  await letOwnerLeave();
  expect(await isActive()).toBe(true);
  const [owner] = (await run('explain', ANN, '--json')).json;
  expect(owner).toMatchObject({ verdict: 'leftAlone', condition: { reason: 'Protected' } });
  expect(owner.condition.message).toContain('stays active although the person is deleted at the source');

  await place.stopApps();
  giveKeyTo('robot@acme.example');
  expect(await explained(ANN)).toContain(`${ANOTHER_OWNER}, and the next reconcile`);
  await place.start();
  await run('reconcile', '--yes');
  await place.idle();
  expect(await isActive()).toBe(false);
  expect((await run('exceptions', '--json')).json).toEqual([]);
}, 60_000);

test('the owner of the platform key leaves, and the key then gets another owner → plan and sync --dry-run list the deactivation, and apply writes it', async () => {
  const ann = await letOwnerLeave();
  const file = join(place.commands.folder, 'plan.json');
  const unwritten = await run('plan', '--full');
  expect([unwritten.code, unwritten.text]).toEqual([0, expect.not.stringContaining('deactivate')]);

  await place.stopApps();
  giveKeyTo('robot@acme.example');
  const planned = await run('plan', '--out', file);
  expect(planned.text).toMatch(/deactivate +(person|user) +ann@acme[.]example/);
  expect(planned.code).toBe(2);
  expect((await run('sync', `User:${ann}`, '--dry-run')).text).toMatch(/deactivate ann@acme[.]example/);
  const applied = await run('apply', file, '--yes');
  expect([applied.code, applied.text]).toEqual([0, expect.stringContaining('converged')]);
  expect(await isActive()).toBe(false);
  expect((await run('plan', '--full')).code).toBe(0);
}, 60_000);

test('a leaver still owns the platform key, or the platform names no owner → reconcile leaves the account open, and sync closes it only if the key has no owner', async () => {
  const ann = await letOwnerLeave();
  await run('reconcile', '--yes');
  front.answer = (_, url) => (url.endsWith('/users/me') ? { status: 404 } : undefined);
  await run('reconcile', '--yes');
  await place.idle();
  expect(await isActive()).toBe(true);
  expect((await run('exceptions', '--json')).json).toMatchObject([{ reason: 'Protected', name: ANN }]);

  // The processes start anew with a key that has no owner.
  await place.stopApps();
  await place.start();
  await run('reconcile', '--yes');
  expect(await explained(ANN)).toContain(`If the new key has no owner, order scim-bridge sync User:${ann}`);
  expect(await isActive()).toBe(true);
  await run('sync', `User:${ann}`);
  await place.idle();
  expect(await isActive()).toBe(false);
}, 60_000);

test('the stored record of the owner of the platform key is damaged → explain does not say that the key has another owner', async () => {
  const ann = await protectOwner();
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'displayName', value: 'Ann' });
  await place.idle();
  expect(await explained(`User:${ann}`)).toContain('owner of the platform key');
  await place.stopApps();
  await place.redis.hset(await place.key('{default}:users'), ann, 'damaged');
  expect(await explained(`User:${ann}`)).not.toContain(ANOTHER_OWNER);
}, 60_000);

test('the owner of the platform key is deleted while another target still has the former name → explain does not say that the key has another owner', async () => {
  const other = await startSandbox();
  place = await openPlace({});
  front = await startFront();
  front.platformUrl = place.sandbox.ready.platformUrl;
  await place.change((settings) => {
    const { main } = settings.targets;
    const before = { ...main, url: other.ready.platformUrl, token: other.ready.fixtures.apiKeys.admin };
    Object.assign((settings.connections as { default: object }).default, { targets: ['before', 'main'] });
    Object.assign(settings, { targets: { before, main: { ...main, url: front.url } } });
  });
  const ann = await place.idp.createUser('former@acme.example');
  await place.idle();
  await run('hold', '--target', 'before', '--note', 'test', '--by', 'olga');
  giveKeyTo(ANN);
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'userName', value: ANN });
  await eventually('the new name is at main', async () => (await place.platform.user(ANN)) !== undefined);
  await place.stopApps();
  await place.start();
  await place.idp.createUser('bob@acme.example');
  await place.idp.send('DELETE', `/Users/${ann}`);
  const conditionAtMain = async () =>
    (await run('explain', `User:${ann}`, '--json')).json.find(
      ({ target }: { target: string }) => target === 'main',
    ).condition;
  await eventually('the person is protected', async () => (await conditionAtMain())?.reason === 'Protected');
  expect((await conditionAtMain()).message).not.toContain(ANOTHER_OWNER);
  await other.stop();
}, 60_000);

test('the key is replaced and its new owner cannot be read → a leaver who owned the former key stays active until the platform names another owner', async () => {
  place = await openPlace({});
  front = await startFront();
  front.platformUrl = place.sandbox.ready.platformUrl;
  const key = join(place.commands.folder, 'key');
  writeFileSync(key, place.sandbox.ready.fixtures.apiKeys.admin ?? '', { mode: 0o600 });
  const ann = await place.idp.createUser(ANN);
  await place.idle();
  giveKeyTo(ANN);
  await place.change(({ targets: { main } }) => {
    main.url = front.url;
    main.token = `\${file:${key}}`;
  });
  await run('reconcile', '--yes');
  // The first account that is made after the start makes the process read the owner of the key.
  await place.idp.createUser('bob@acme.example');
  await place.idle();
  let unanswered = 0;
  front.answer = (_, url) =>
    url.endsWith('/users/me') && ++unanswered ? { status: 500, body: '{}' } : undefined;
  const made = await place.platform.control('POST', '/fixtures', {
    apiKeys: [{ name: 'other', owner: 'admin@acme.example' }],
  });
  writeFileSync(key, (made as { apiKeys: { key: string }[] }).apiKeys[0]?.key ?? '');
  // The service reads the file every two seconds.
  await new Promise((resolve) => setTimeout(resolve, 2500));
  await place.idp.send('DELETE', `/Users/${ann}`);
  await eventually('the owner is asked for', () => Promise.resolve(unanswered > 0));
  await eventually('the sync waits', async () => {
    const [person] = (await run('explain', ANN, '--json')).json;
    return person.mark?.state === 'due' && person.condition === null;
  });
  expect(await isActive()).toBe(true);
  giveKeyTo('robot@acme.example');
  await place.idle();
  expect(await isActive()).toBe(false);
}, 90_000);

test('the owner of the platform key cannot be read → plan, explain and reconcile say why the group of an unmanaged member is not compared', async () => {
  place = await openPlace({
    target: { groups: { members: 'authoritative' } },
    before: (platform) =>
      platform.control('POST', '/fixtures', { users: [{ userName: 'visitor@acme.example' }] }),
  });
  front = await startFront();
  front.platformUrl = place.sandbox.ready.platformUrl;
  const ann = await place.idp.createUser(ANN);
  await place.idp.createGroup('crew', [ann]);
  await place.idle();
  const crew = await place.platform.group('crew');
  const visitor = await place.platform.user('visitor@acme.example');
  await fetch(`${place.sandbox.ready.platformUrl}/api/scim/v2/Groups/${crew?.scimId}`, {
    method: 'PATCH',
    headers: {
      authorization: `Bearer ${place.sandbox.ready.fixtures.apiKeys.admin}`,
      'content-type': 'application/scim+json',
    },
    body: JSON.stringify({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path: 'members', value: [{ value: visitor?.scimId }] }],
    }),
  });
  front.answer = (_, url) => (url.endsWith('/users/me') ? { status: 500, body: '{}' } : undefined);
  await place.change(({ targets: { main } }) => {
    main.url = front.url;
  });
  const words = (answer: { text: string }) => answer.text.replaceAll(/\s+/g, ' ');
  const planned = await run('plan', '--full');
  expect(words(planned)).toContain('1 resource could not be read');
  expect(words(planned)).toMatch(/crew \(Group:\w+\): GET \/api\/v1\/users\/me answered 500/);
  expect(planned.text).not.toContain('visitor@acme.example');
  expect(words(await run('explain', 'crew'))).toContain('GET /api/v1/users/me answered 500');
  expect(words(await run('reconcile', '--full', '--yes'))).toContain('1 resource could not be read (crew)');
}, 60_000);
