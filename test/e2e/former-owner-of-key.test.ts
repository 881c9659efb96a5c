// Tests what becomes of a leaver who was protected as the owner of the platform key, after the key of another account took its place.
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

test('the person who owns the platform key leaves, and the key gets another owner → explain says so, and the next reconcile closes the account', async () => {
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
  await place.idp.send('DELETE', `/Users/${ann}`);
  await place.idle();
  expect(await isActive()).toBe(true);
  const [owner] = (await run('explain', ANN, '--json')).json;
  expect(owner).toMatchObject({ verdict: 'leftAlone', condition: { reason: 'Protected' } });
  expect(owner.condition.message).toContain('stays active although the person is deleted at the source');

  await place.stopApps();
  giveKeyTo('robot@acme.example');
  const { text } = await run('explain', ANN);
  expect(text.replaceAll(/\s+/g, ' ')).toContain('the key has another owner now, and the next reconcile');
  await place.start();
  await run('reconcile', '--yes');
  await place.idle();
  expect(await isActive()).toBe(false);
  expect((await run('exceptions', '--json')).json).toEqual([]);
}, 60_000);

test('the owner of the platform key stays the same, or cannot be read → no reconcile writes to the account', async () => {
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
  await place.idp.createUser('bob@acme.example');
  await place.idle();
  await place.idp.send('DELETE', `/Users/${ann}`);
  await place.idle();
  await run('reconcile', '--yes');
  front.answer = (_, url) => (url.endsWith('/users/me') ? { status: 404 } : undefined);
  await run('reconcile', '--yes');
  await place.idle();
  expect(await isActive()).toBe(true);
  expect((await run('exceptions', '--json')).json).toMatchObject([{ reason: 'Protected', name: ANN }]);
}, 60_000);

test('the owner of the platform key cannot be read → plan, explain and reconcile say why the group of an unmanaged member, who may be the owner, is not compared', async () => {
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
