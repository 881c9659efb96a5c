// Tests what a client with one token can do to other connections, against a started process.
import { randomUUID } from 'node:crypto';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { startBridgeProcess, type BridgeProcess } from '../support/bridge-process.ts';
import { createCommands, type Commands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp, type Idp } from '../support/idp.ts';
import { imageEnvironment } from '../support/image-environment.ts';
import { createPlatformView, type PlatformView } from '../support/platform-view.ts';
import { TOKENS } from './siege.ts';

const ENDLESS = '($f := function($x){ $f($x+1) }; $f(0))';
const DOUBLING = '$string($reduce([1..28], function($a, $b){ {"a": $a, "b": $a} }, 1))';
const ESCAPE = '\u001b]52;c;eA==\u0007';

let sandbox: Sandbox;
let bridge: BridgeProcess;
let commands: Commands;
let platform: PlatformView;
let idp: Idp;
let other: Idp;

beforeAll(async () => {
  sandbox = await startSandbox();
  const { platformUrl, controlUrl, fixtures } = sandbox.ready;
  const tokens = (secret: string) => ({ tokens: [{ name: 'one', secret }], targets: ['main'] });
  const team = `title = "loop" ? ${ENDLESS} : title = "double" ? ${DOUBLING} : title`;
  const settings = {
    server: { adminToken: TOKENS.admin },
    redis: { url: process.env.TEST_REDIS_URL, prefix: `test-${randomUUID()}` },
    connections: { default: tokens(TOKENS.scim), second: tokens(TOKENS.neighbour) },
    targets: {
      main: {
        url: platformUrl,
        token: fixtures.apiKeys.admin,
        allowLoopbackHttp: true,
        attributes: { team: { type: 'string', expression: team } },
      },
    },
    reconcile: { schedule: null },
  };
  bridge = await startBridgeProcess(settings, 'all', imageEnvironment());
  commands = createCommands(settings);
  platform = createPlatformView(controlUrl);
  idp = createIdp(bridge.baseUrl, TOKENS.scim);
  other = createIdp(`http://127.0.0.1:${bridge.port}/connections/second/scim/v2`, TOKENS.neighbour);
}, 90_000);

afterAll(async () => {
  commands.remove();
  await bridge.stop();
  await sandbox.stop();
});

const arrives = (userName: string, team: string): Promise<unknown> =>
  eventually(`${userName} is in team ${team}`, async () => {
    const account = await platform.user(userName);
    return account?.active && account.attributes.team === team;
  });
const deadLetters = async (): Promise<string> => (await commands.run('dead-letters', 'list', '--json')).text;

test('the mapping expression of a user never ends or fills the memory → this user is a dead letter, and other users are still synced', async () => {
  const pid = bridge.pid();
  for (const title of ['loop', 'double']) await idp.createUser(`${title}@trust.example`, { title });
  await idp.createUser('free@trust.example', { title: 'sales' });
  await arrives('free@trust.example', 'sales');
  await eventually('both are named', async () => {
    const text = await deadLetters();
    return text.includes('takes longer than') && text.includes('letters and elements');
  });
  expect(await platform.user('loop@trust.example')).not.toMatchObject({ active: true });
  expect(bridge.pid()).toBe(pid);
});

test("a user with the userName of another connection's user does not get that account", async () => {
  await idp.createUser('ada@trust.example', { title: 'sales', displayName: 'Ada' });
  await arrives('ada@trust.example', 'sales');
  const theirs = await other.createUser('ada@trust.example', { title: 'board', displayName: 'Eve' });
  await eventually('the second one is refused', async () =>
    (await deadLetters()).includes('TakenByConnection'),
  );
  await other.patch(`/Users/${theirs}`, { op: 'replace', path: 'active', value: false });
  await idp.createUser('after@trust.example', { title: 'after' });
  await arrives('after@trust.example', 'after');
  expect(await platform.user('ada@trust.example')).toMatchObject({
    active: true,
    displayName: 'Ada',
    attributes: { team: 'sales' },
  });
});

test("a new user with the externalId of a leaver gets neither the leaver's id nor the groups", async () => {
  const leaver = await idp.createUser('old@trust.example', { externalId: 'jsmith', title: 'finance' });
  const group = await idp.createGroup('Finance', [leaver]);
  await arrives('old@trust.example', 'finance');
  await idp.patch(`/Users/${leaver}`, { op: 'replace', path: 'active', value: false });
  const newcomer = await idp.createUser('new@trust.example', { externalId: 'jsmith', title: 'intern' });
  expect(newcomer).not.toBe(leaver);
  await arrives('new@trust.example', 'intern');
  expect((await platform.user('new@trust.example'))?.groups).not.toContain('Finance');
  const { body } = await idp.send('GET', `/Groups/${group}`);
  expect(JSON.stringify(body)).not.toContain(newcomer);
});

test('a value that the source removes is cleared at the platform by default', async () => {
  const id = await idp.createUser('bob@trust.example', { title: 'sales' });
  await arrives('bob@trust.example', 'sales');
  await idp.patch(`/Users/${id}`, { op: 'remove', path: 'title' });
  await eventually('the value is gone', async () => {
    const team = (await platform.user('bob@trust.example'))?.attributes.team;
    return team === undefined || team === null;
  });
});

test('control sequences in a userName answer 400, and those in a title are stored and printed escaped by log, links list and plan', async () => {
  const body = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], active: true };
  const refused = await idp.send('POST', '/Users', { ...body, userName: `x${ESCAPE}@trust.example` });
  expect(refused).toMatchObject({ status: 400 });
  await idp.createUser('esc@trust.example', { title: `x${ESCAPE}` });
  await eventually('it is in the log', async () =>
    (await commands.run('log', '--json')).text.includes('52;c'),
  );
  for (const command of [['log'], ['links', 'list'], ['plan']]) {
    expect((await commands.run(...command)).text).not.toContain('\u001b]52');
  }
});
