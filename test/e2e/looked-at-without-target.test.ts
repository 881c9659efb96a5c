// Tests that commands with other settings, such as those of a change to come, leave what the service does as it is.
import '../support/load-modules.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { createCommands, type Commands } from '../support/command.ts';
import { createPlatformView, type PlatformView } from '../support/platform-view.ts';
import { send } from '../support/send.ts';
import type { TestSettings } from '../support/settings.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const CID = 'cid@acme.example';

let place: Place;
let second: Sandbox;
let analytics: PlatformView;
let withoutAnalytics: Commands;

beforeAll(async () => {
  second = await startSandbox();
  analytics = createPlatformView(second.ready.controlUrl);
  place = await openPlace({ rest: { reconcile: { schedule: null } } });
  const { settings } = place;
  withoutAnalytics = createCommands(structuredClone(settings));
  await place.change(({ targets, connections }: TestSettings) => {
    for (const each of Object.values(connections)) Object.assign(each, { targets: ['main', 'analytics'] });
    const { platformUrl, fixtures } = second.ready;
    const own = { url: platformUrl, token: fixtures.apiKeys.admin };
    Object.assign(targets, { analytics: { ...targets.main, ...own } });
  });
}, 60_000);
afterAll(async () => {
  withoutAnalytics.remove();
  await place.stop();
  await second.stop();
});

/** Makes a person a member at analytics by hand. */
async function addByHand(groupName: string, userName: string): Promise<void> {
  const [group, user] = [await analytics.group(groupName), await analytics.user(userName)];
  const { platformUrl, fixtures } = second.ready;
  await send(platformUrl, 'PATCH', `/api/scim/v2/Groups/${group?.scimId}`, {
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/json' },
    body: {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'add', path: 'members', value: [{ value: user?.scimId }] }],
    },
  });
}

test.each([['plan'], ['status'], ['doctor'], ['explain', ANN]])(
  '%s with settings that lack a target which the service feeds → after a restart a reconcile keeps a member whom somebody added there by hand',
  async (...words) => {
    const name = words[0] ?? '';
    const { idp } = place;
    const [ann, bob] = [await idp.createUser(`${name}-${ANN}`), await idp.createUser(`${name}-${BOB}`)];
    await idp.createUser(`${name}-${CID}`);
    const group = await idp.createGroup(name, [ann]);
    await place.idle();
    await place.commands.run('reconcile', '--yes');
    await addByHand(name, `${name}-${CID}`);
    await idp.patch(`/Groups/${group}`, { op: 'add', path: 'members', value: [{ value: bob }] });
    await place.idle();

    const { text } = await withoutAnalytics.run(...words);
    if (name !== 'plan' && name !== 'explain')
      expect(text).toContain('target analytics of connection default');
    await place.change(() => undefined);
    await place.commands.run('reconcile', '--yes');
    await place.idle();
    const members = [ANN, BOB, CID].map((each) => `${name}-${each}`);
    expect((await analytics.group(name))?.members.toSorted()).toEqual(members);
  },
  60_000,
);

test('links keep with settings that lack a target which the service feeds → it is refused, and the target stays known as fed', async () => {
  await place.idp.createUser(`keep-${ANN}`);
  await place.idle();
  const known = await place.key(':{bridge.fleet}:knownTargets');
  const keep = 'links keep --connection default --target analytics --yes'.split(' ');
  const { code, text } = await withoutAnalytics.run(...keep);
  expect(await place.redis.hget(known, 'default analytics')).toBe('fed');
  expect([code, text]).toEqual([
    1,
    expect.stringContaining('A running process of the service may feed the target analytics'),
  ]);
  // Without a process that feeds it the order is taken, also before the first start without the target.
  await place.stopApps();
  expect((await withoutAnalytics.run(...keep)).code).toBe(0);
  expect(await place.redis.hget(known, 'default analytics')).toBe('kept');
}, 60_000);
