// Tests that a held removal does not count as done when the platform cannot be read, or when only a proxy answers 404.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { startFront, type Front } from '../support/front.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const NONE = { count: 0, percent: 0 };

let place: Place;
let front: Front;
let crew: string;
const ids: string[] = [];
let before: (() => Promise<unknown>) | undefined;

/** Starts a bridge that reaches the platform through `front`, with a group of two people. */
async function open(): Promise<void> {
  const guard = { deactivate: NONE, delete: NONE, removeMembers: NONE, clearAttributes: NONE };
  place = await openPlace({ target: { guard } });
  front = await startFront();
  front.platformUrl = place.sandbox.ready.platformUrl;
  await place.change(({ targets: { main } }) => {
    main.url = front.url;
  });
  await before?.();
  ids.splice(0);
  for (const name of [ANN, BOB]) ids.push(await place.idp.createUser(name));
  crew = await place.idp.createGroup('crew', ids);
  await place.idle();
}
afterEach(async () => {
  before = undefined;
  await place.stop();
  front.stop();
});

const membersAtPlatform = async (): Promise<number> =>
  (await place.platform.group('crew'))?.members.length ?? 0;
const scimIdOf = async (name: string): Promise<string> => (await place.platform.user(name))?.scimId ?? '';
const groupId = async (): Promise<string> => (await place.platform.group('crew'))?.scimId ?? '';
const heldRemovals = async (): Promise<number> =>
  (await place.commands.run('approvals', 'list', '--json')).json[0]?.kinds.removeMembers ?? 0;
const json = (status: number, body: object) => ({
  status,
  headers: { 'content-type': 'application/scim+json' },
  body: JSON.stringify(body),
});
const notFound = json(404, {
  schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
  status: '404',
  detail: 'not found',
});

test.each(['reconcile', 'sync'])(
  'the member list lacks a member whose account cannot be read → %s keeps the held removal of this member',
  async (command) => {
    await open();
    await place.idp.patch(`/Groups/${crew}`, { op: 'remove', path: `members[value eq "${ids[0] ?? ''}"]` });
    await place.idle();
    expect(await heldRemovals()).toBe(1);
    const [id, ann, bob] = [await groupId(), await scimIdOf(ANN), await scimIdOf(BOB)];
    front.answer = (method, url) => {
      if (method !== 'GET') return undefined;
      if (url.includes(`/Users/${ann}`)) return json(503, {});
      if (!url.includes(`/Groups/${id}`)) return undefined;
      return json(200, { id, displayName: 'crew', members: [{ value: bob, display: BOB }] });
    };
    await place.commands.run(...(command === 'sync' ? ['sync', `Group:${crew}`] : ['reconcile', '--full']));
    front.answer = () => undefined;
    await place.idle();
    expect(await membersAtPlatform()).toBe(2);
    expect(await heldRemovals()).toBe(1);
  },
  60_000,
);

test('a proxy answers 404 for a deleted group alone → sync keeps the held removals of its members', async () => {
  before = () =>
    fetch(`${place.sandbox.ready.platformUrl}/api/scim/v2/Groups`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${place.sandbox.ready.fixtures.apiKeys.admin}`,
        'content-type': 'application/scim+json',
      },
      body: JSON.stringify({ schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], displayName: 'crew' }),
    });
  await open();
  expect(await membersAtPlatform()).toBe(2);
  await place.idp.send('DELETE', `/Groups/${crew}`);
  await place.idle();
  expect(await heldRemovals()).toBe(2);
  const id = await groupId();
  front.answer = (method, url) => (method === 'GET' && url.includes(`/Groups/${id}`) ? notFound : undefined);
  await place.commands.run('sync', `Group:${crew}`);
  front.answer = () => undefined;
  await place.idle();
  expect(await membersAtPlatform()).toBe(2);
  expect(await heldRemovals()).toBe(2);
}, 60_000);

test('a rejected removal is made by hand and the group cannot be read → sync of the person reports the group as not compared, and a later sync ends the rejection', async () => {
  await open();
  await place.idp.patch(`/Groups/${crew}`, { op: 'remove', path: `members[value eq "${ids[0] ?? ''}"]` });
  await place.idle();
  const [approval] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'reject', approval.id, '--yes');
  await place.idle();
  const [id, ann] = [await groupId(), await scimIdOf(ANN)];
  await byHand(place, 'PATCH', `/Groups/${id}`, { op: 'remove', path: `members[value eq "${ann}"]` });
  front.answer = (method, url) =>
    method === 'GET' && url.includes(`/Groups/${id}`) ? json(503, {}) : undefined;
  const { text } = await place.commands.run('sync', ANN);
  expect(text).toContain(
    '1 group of the person was not compared, because they are too many for one look, or the platform did not answer',
  );
  expect(text).not.toContain('stays there');
  front.answer = () => undefined;
  expect((await place.commands.run('sync', ANN)).text).not.toMatch(/not compared|stays there/);
  await place.commands.run('sync', `Group:${crew}`);
  expect((await place.commands.run('exceptions', '--json')).json).toEqual([]);
}, 60_000);
