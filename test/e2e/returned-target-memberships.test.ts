// Tests members whom the source removes while a target is out of the settings, and whose group changes again before the first
// reconcile of the returned target.
import '../support/load-modules.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { createPlatformView, type PlatformView } from '../support/platform-view.ts';
import { send } from '../support/send.ts';
import type { TestSettings } from '../support/settings.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const CID = 'cid@acme.example';
const DAN = 'dan@acme.example';
const ALL = { count: 9, percent: 100 };

let place: Place;
let second: Sandbox;
let analytics: PlatformView;
let cid: string;
let dan: string;
let sales: string;

const feed = (connections: object, targets: string[]): void => {
  for (const each of Object.values(connections)) Object.assign(each as object, { targets });
};
const removeAnalytics = ({ targets, connections }: TestSettings): void => {
  feed(connections, ['main']);
  delete (targets as Partial<Record<string, unknown>>).analytics;
};
function addAnalytics({ targets, connections }: TestSettings): void {
  feed(connections, ['main', 'analytics']);
  const { platformUrl, fixtures } = second.ready;
  const own = { url: platformUrl, token: fixtures.apiKeys.admin };
  Object.assign(targets, { analytics: { ...targets.main, ...own, guard: { removeMembers: ALL } } });
}

const change = (op: 'add' | 'remove', group: string, id: string) =>
  place.idp.patch(
    `/Groups/${group}`,
    op === 'add'
      ? { op, path: 'members', value: [{ value: id }] }
      : { op, path: `members[value eq "${id}"]` },
  );
const isMember = async () => (await analytics.user(CID))?.groups.includes('sales');

beforeEach(async () => {
  second = await startSandbox();
  analytics = createPlatformView(second.ready.controlUrl);
  place = await openPlace({ rest: { reconcile: { schedule: null, onDrift: 'report' } } });
  await place.change(addAnalytics);
  const { idp } = place;
  const ann = await idp.createUser(ANN);
  cid = await idp.createUser(CID);
  dan = await idp.createUser(DAN);
  sales = await idp.createGroup('sales', [ann, cid]);
  await idp.createGroup('finance', [cid]);
  await place.idle();
  await place.commands.run('reconcile', '--yes');
  await place.idle();
  await place.change(removeAnalytics);
  await change('remove', sales, cid);
  await place.idle();
  await place.change(addAnalytics);
  await place.idle();
  expect(await isMember()).toBe(true);
}, 60_000);
afterEach(async () => {
  await place.stop();
  await second.stop();
});

test('a member left a group while the target was out of the settings → before any reconcile explain and plan show the removal, and sync of the member writes it', async () => {
  await change('add', sales, dan);
  await place.idle();
  expect(await isMember()).toBe(true);
  const explained = await place.commands.run('explain', CID, '--target', 'analytics');
  expect(explained.text).toContain('is not at analytics as desired');
  const { code, text } = await place.commands.run('plan', '--target', 'analytics');
  expect([code, text]).toEqual([2, expect.stringContaining(`removeMember person ${CID} in sales`)]);
  expect((await place.commands.run('sync', CID, '--target', 'analytics')).code).toBe(0);
  await place.idle();
  expect(await isMember()).toBe(false);
}, 60_000);

test('a member left a group while the target was out of the settings, and is added and removed again on hold → after the release the person is no member', async () => {
  await place.commands.run('hold', '--target', 'analytics');
  await change('add', sales, cid);
  await change('remove', sales, cid);
  await place.commands.run('release', '--target', 'analytics');
  await place.idle();
  expect(await isMember()).toBe(false);
}, 60_000);

test('reconcile of a target that returned to the settings removes a member whom the source removed, and keeps one added by hand to another group', async () => {
  await change('add', sales, dan);
  const [group, ann] = [await analytics.group('finance'), await analytics.user(ANN)];
  const { platformUrl, fixtures } = second.ready;
  await send(platformUrl, 'PATCH', `/api/scim/v2/Groups/${group?.scimId}`, {
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/json' },
    body: {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'add', path: 'members', value: [{ value: ann?.scimId }] }],
    },
  });
  await place.commands.run('reconcile', '--target', 'analytics', '--yes');
  await place.idle();
  expect((await analytics.group('finance'))?.members.toSorted()).toEqual([ANN, CID]);
  expect(await isMember()).toBe(false);
}, 60_000);
