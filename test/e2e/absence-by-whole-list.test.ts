// Tests that a passing 404 proves no absence of an account or group that was renamed by hand at the platform.
import { setTimeout as after } from 'node:timers/promises';
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { byHand } from '../support/by-hand.ts';
import { eventually } from '../support/eventually.ts';
import { targetHealth } from '../support/health.ts';
import { startFront, type Front } from '../support/front.ts';

let bridge: Bridge;
let front: Front;
beforeEach(async () => {
  front = await startFront();
  bridge = await buildBridge({
    configure: ({ targets: { main } }) => {
      if (!main) throw new Error('no target');
      front.platformUrl = main.url;
      main.url = front.url;
    },
  });
}, 60_000);
afterEach(async () => {
  await bridge.stop();
  front.stop();
});

/** Answers 404 in the platform's form for all calls of one resource, up to a number of calls. */
function loseFor(calls: number, id: string): void {
  let left = calls;
  front.answer = (_method, url) =>
    url.includes(`/${id}`) && left-- > 0
      ? {
          status: 404,
          headers: { 'content-type': 'application/scim+json' },
          body: JSON.stringify({
            schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
            status: '404',
            detail: `Resource ${id} not found`,
          }),
        }
      : undefined;
}

const settled = () => eventually('settled', async () => (await targetHealth(bridge)).dirty === 0);

test('the platform answers 404 twice for the renamed account of a leaver → the account is still found and closed', async () => {
  const leaver = await bridge.idp.createUser('leaver@acme.example');
  await settled();
  const { scimId = '' } = (await bridge.platform.user('leaver@acme.example')) ?? {};
  await byHand(bridge, 'PATCH', `/Users/${scimId}`, {
    op: 'replace',
    path: 'userName',
    value: 'other@acme.example',
  });
  loseFor(2, scimId);
  await bridge.idp.send('DELETE', `/Users/${leaver}`);
  await settled();
  expect((await bridge.platform.user('other@acme.example'))?.active).toBe(false);
}, 60_000);

test('the platform answers 404 twice for the renamed account of a person in scope → the account is updated, and no second account is created', async () => {
  const mover = await bridge.idp.createUser('mover@acme.example');
  await settled();
  const { scimId = '' } = (await bridge.platform.user('mover@acme.example')) ?? {};
  const before = (await bridge.platform.state()).users.length;
  await byHand(bridge, 'PATCH', `/Users/${scimId}`, {
    op: 'replace',
    path: 'userName',
    value: 'other@acme.example',
  });
  loseFor(2, scimId);
  await bridge.idp.patch(`/Users/${mover}`, { op: 'replace', path: 'displayName', value: 'New' });
  await settled();
  const { users } = await bridge.platform.state();
  expect(users).toHaveLength(before);
  expect(users.find((user) => user.scimId === scimId)).toMatchObject({ displayName: 'New' });
}, 60_000);

test('the platform answers 404 twice for a renamed group that the source deleted → the group is still deleted at the platform', async () => {
  const member = await bridge.idp.createUser('member@acme.example');
  const group = await bridge.idp.createGroup('auditors', [member]);
  await settled();
  const { scimId = '' } = (await bridge.platform.group('auditors')) ?? {};
  await byHand(bridge, 'PATCH', `/Groups/${scimId}`, {
    op: 'replace',
    path: 'displayName',
    value: 'renamed',
  });
  loseFor(2, scimId);
  await bridge.idp.send('DELETE', `/Groups/${group}`);
  await settled();
  expect((await bridge.platform.state()).groups.filter((each) => each.scimId === scimId)).toEqual([]);
}, 60_000);

test('the account of a person was deleted at the platform → the next push of the person creates a new account', async () => {
  const person = await bridge.idp.createUser('person@acme.example');
  await settled();
  const { scimId = '' } = (await bridge.platform.user('person@acme.example')) ?? {};
  await byHand(bridge, 'DELETE', `/Users/${scimId}`);
  await bridge.idp.patch(`/Users/${person}`, { op: 'replace', path: 'displayName', value: 'New' });
  await settled();
  const made = await bridge.platform.user('person@acme.example');
  expect(made).toMatchObject({ displayName: 'New', active: true });
  expect(made?.scimId).not.toBe(scimId);
}, 60_000);

test('a group of seven is created whose other six members have deleted accounts → the member with an account joins at once, and the user list is read at most three times', async () => {
  const names = Array.from({ length: 7 }, (_, number) => `member${number}@acme.example`);
  const members: string[] = [];
  for (const name of names) members.push(await bridge.idp.createUser(name));
  await settled();
  for (const name of names.slice(0, 6)) {
    const { scimId = '' } = (await bridge.platform.user(name)) ?? {};
    await byHand(bridge, 'DELETE', `/Users/${scimId}`);
  }
  const lists: number[] = [];
  front.edit = async (_method, url, body) => {
    if (url.includes('/Users?') && !url.includes('filter=')) {
      lists.push(Date.now());
      await after(700);
    }
    return body;
  };
  await bridge.idp.createGroup('auditors', members);
  const size = async () => (await bridge.platform.group('auditors'))?.members.length ?? 0;
  await eventually('the member with an account is in the group', async () => (await size()) > 0);
  expect(lists.length).toBeLessThan(2);
  await eventually('all are members', async () => (await size()) === 7, 30_000);
  // One for the member who asked first, one for the others, and one that shows which accounts can exist.
  expect(lists.length).toBeLessThan(4);
}, 60_000);

test('eleven of twelve members of a new group have deleted accounts → all twelve become members after at most three reads of the user list', async () => {
  const names = Array.from({ length: 12 }, (_, number) => `member${number}@acme.example`);
  const members: string[] = [];
  for (const name of names) members.push(await bridge.idp.createUser(name));
  await settled();
  for (const name of names.slice(0, 11)) {
    const { scimId = '' } = (await bridge.platform.user(name)) ?? {};
    await byHand(bridge, 'DELETE', `/Users/${scimId}`);
  }
  let lists = 0;
  front.edit = (_method, url, body) => {
    if (url.includes('/Users?') && !url.includes('filter=')) lists++;
    return Promise.resolve(body);
  };
  await bridge.idp.createGroup('auditors', members);
  const size = async () => (await bridge.platform.group('auditors'))?.members.length ?? 0;
  await eventually('all are members', async () => (await size()) === 12, 30_000);
  // One for the members who asked first, one for those who asked after it began, and one that shows which accounts can exist.
  expect(lists).toBeLessThan(4);
}, 60_000);
