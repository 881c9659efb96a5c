// Tests answers of a proxy in place of the platform: its 404 is no absence, and its refusals are retried.
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { targetHealth } from '../support/health.ts';
import { startFront, type Front, type FrontAnswer } from '../support/front.ts';
import { createScenarios } from '../support/scenario.ts';

interface Context {
  bridge: Bridge;
  front: Front;
}

async function openContext(): Promise<Context> {
  const front = await startFront();
  const bridge = await buildBridge({
    configure: (config) => {
      const { main } = config.targets;
      if (!main) throw new Error('no target');
      front.platformUrl = main.url;
      main.url = front.url;
      // A link that was removed by mistake cannot be restored.
      main.adopt = 'report';
      main.attributes = { team: { type: 'string', from: 'title', onEmpty: 'keep' } };
    },
  });
  return { bridge, front };
}

const test = createScenarios(openContext, async ({ bridge, front }) => {
  await bridge.stop();
  front.stop();
});

const json = { 'content-type': 'application/json' };
const html = { 'content-type': 'text/html' };
const speakers: [string, FrontAnswer][] = [
  ['an ingress without its backend', { status: 404, body: 'default backend - 404' }],
  ['a gateway without its route', { status: 404, headers: json, body: '{"message":"no Route matched"}' }],
  ['a firewall', { status: 403, headers: html, body: '<html><title>Blocked</title></html>' }],
];

for (const [name, answer] of speakers)
  test(`${name} answers in place of the platform for a while → all waiting changes are written later, without lost links or dead letters`, async ({
    bridge,
    front,
  }) => {
    const { idp, platform } = bridge;
    const key = name.replace(/\W+/g, '');
    const names = ['leaver', 'gone', 'edited', 'joins'].map((each) => `${each}.${key}@acme.example`);
    const [leaver, gone, edited, joins] = await Promise.all(names.map((each) => idp.createUser(each)));
    const group = await idp.createGroup(key, [edited ?? '']);
    const here = async () => {
      const { users } = await platform.state();
      return names.map((each) => users.find(({ userName }) => userName === each));
    };
    await eventually('all there', async () => {
      const isThere = (await here()).every((user) => user?.active);
      return isThere && (await platform.group(key))?.members.length === 1;
    });
    const before = (await platform.state()).users.length;

    let answers = 0;
    front.answer = () => (++answers, answer);
    await idp.patch(`/Users/${leaver}`, { op: 'replace', path: 'active', value: false });
    await idp.send('DELETE', `/Users/${gone}`);
    await idp.patch(`/Users/${edited}`, { op: 'replace', value: { displayName: 'New', title: 'T' } });
    await idp.patch(`/Groups/${group}`, { op: 'add', path: 'members', value: [{ value: joins }] });
    await eventually('each was refused', () => answers >= 8);
    front.answer = () => undefined;

    await eventually('caught up', async () => (await targetHealth(bridge)).dirty === 0);
    const [left, removed, changed, joined] = await here();
    expect([left?.active, removed?.active]).toEqual([false, false]);
    expect(changed).toMatchObject({ displayName: 'New', active: true, attributes: { team: 'T' } });
    expect(joined?.groups).toEqual([key]);
    expect((await platform.state()).users.length).toBe(before);
    expect((await targetHealth(bridge)).blocked).toBe(0);
  }, 60_000);
