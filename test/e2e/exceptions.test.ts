// Tests that every reading command reports exceptions (rejected, protected, dropped), and that each exception ends.
import { randomUUID } from 'node:crypto';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { startBridgeProcess, type BridgeProcess } from '../support/bridge-process.ts';
import { createCommands, type Commands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp, type Idp } from '../support/idp.ts';
import { createPlatformView, type PlatformView } from '../support/platform-view.ts';

const TOKEN = 'a-token-for-tests-only-0123456789';
const ADMIN = 'an-admin-token-for-tests-0123456789';
const LEAVERS = ['r0@acme.example', 'r1@acme.example'];

let sandbox: Sandbox;
let bridge: BridgeProcess;
let commands: Commands;
let idp: Idp;
let platform: PlatformView;
const ids = new Map<string, string>();

async function command(...args: string[]): Promise<{ code: number; answer: any }> {
  const { code, text, json } = await commands.run(...args);
  return { code, answer: args.includes('--json') ? json : text };
}

const status = async () => (await command('status', '--json')).answer[0];
const untilSynced = () =>
  eventually('nothing is left to do', async () => (await status()).dirty === 0, 60_000);
const activeOnes = async (): Promise<string[]> =>
  (await platform.state()).users.filter(({ active }) => active).map(({ userName }) => userName);
const deactivate = (userName: string) =>
  idp.patch(`/Users/${ids.get(userName)}`, { op: 'replace', path: 'active', value: false });
const read = async (path: string): Promise<string> =>
  (
    await fetch(bridge.baseUrl.replace(/\/scim.*/, path), { headers: { authorization: `Bearer ${ADMIN}` } })
  ).text();
const named = async () =>
  (await command('exceptions', '--json')).answer.map(
    ({ name, reason }: { name: string; reason: string }) => `${name} ${reason}`,
  );

beforeAll(async () => {
  sandbox = await startSandbox();
  const settings = {
    server: { adminToken: ADMIN },
    redis: { url: process.env.TEST_REDIS_URL, prefix: `test-${randomUUID()}` },
    connections: { default: { tokens: [{ name: 'primary', secret: TOKEN }] } },
    targets: {
      main: {
        url: sandbox.ready.platformUrl,
        token: sandbox.ready.fixtures.apiKeys.admin,
        allowLoopbackHttp: true,
        rateLimit: { requestsPerSecond: 1000, burst: 200 },
        guard: { deactivate: { count: 0, percent: 0 } },
        adopt: 'report',
        users: { protected: ['kept@acme.example'] },
      },
    },
    reconcile: { schedule: null },
  };
  commands = createCommands(settings);
  bridge = await startBridgeProcess(settings);
  idp = createIdp(bridge.baseUrl, TOKEN);
  platform = createPlatformView(sandbox.ready.controlUrl);
  for (const name of LEAVERS) ids.set(name, await idp.createUser(name));
  await eventually('all active', async () => {
    const active = await activeOnes();
    return LEAVERS.every((name) => active.includes(name));
  });
  await untilSynced();
}, 60_000);

afterAll(async () => {
  await bridge.stop();
  await sandbox.stop();
  commands.remove();
});

test('without exceptions, the commands status, exceptions and plan say that there are none', async () => {
  const { code, answer } = await command('status', '--json');
  expect([code, answer[0].exceptions.total]).toEqual([0, 0]);
  await expect(command('exceptions')).resolves.toEqual({ code: 0, answer: 'No exceptions.' });
  expect((await command('plan')).answer).toContain('no changes. The platform is as desired.');
}, 60_000);

test('status, plan, reconcile, explain and health report a rejected deactivation until the rejection is withdrawn', async () => {
  for (const name of LEAVERS) await deactivate(name);
  await untilSynced();
  const [{ id }] = (await command('approvals', 'list', '--json')).answer;
  expect((await command('approvals', 'reject', id, '--yes')).code).toBe(0);
  await untilSynced();

  const { code, answer } = await command('status', '--json');
  expect([code, answer[0].exceptions.Rejected, answer[0].exceptions.total]).toEqual([2, 2, 2]);
  expect((await command('status')).answer).toContain('2 exceptions (2 rejected), the oldest for');
  expect((await named()).toSorted()).toEqual(LEAVERS.map((name) => `${name} Rejected`));

  const plan = await command('plan');
  expect(plan.answer).toContain('nothing to write, but the platform is not as desired: 2 exceptions');
  expect(plan.answer).toMatch(/r0@acme\.example: rejected since/);
  const reconcile = await command('reconcile', '--yes');
  expect(reconcile.code).toBe(0);
  expect(reconcile.answer).toContain(
    'converged: except 2 exceptions (2 rejected); see scim-bridge exceptions',
  );
  expect((await command('explain', 'r0@acme.example')).answer).toContain('is left alone at main');
  expect(await read('/health')).toContain('2 exceptions (2 rejected)');
  expect(await read('/metrics')).toContain('bridge_exceptions{target="main",reason="Rejected"} 2');

  await bridge.killAndRestart();
  expect((await named()).toSorted()).toEqual(LEAVERS.map((name) => `${name} Rejected`));

  expect((await command('approvals', 'withdraw', id, '--yes')).code).toBe(0);
  await untilSynced();
  expect((await named()).toSorted()).toEqual(LEAVERS.map((name) => `${name} Held`));
  const [again] = (await command('approvals', 'list', '--json')).answer;
  expect(again).toMatchObject({ state: 'held', kinds: { deactivate: 2 } });
  expect((await command('approvals', 'approve', again.id, '--yes')).code).toBe(0);
  await eventually('both are closed', async () => {
    const active = await activeOnes();
    return LEAVERS.every((name) => !active.includes(name));
  });
  expect((await status()).exceptions.total).toBe(0);
}, 120_000);

test('the exception about a rejected deactivation ends when the source reactivates the user', async () => {
  const id = await idp.createUser('back@acme.example');
  ids.set('back@acme.example', id);
  await untilSynced();
  await deactivate('back@acme.example');
  await untilSynced();
  const [approval] = (await command('approvals', 'list', '--json')).answer;
  await command('approvals', 'reject', approval.id, '--yes');
  await untilSynced();
  expect(await named()).toEqual(['back@acme.example Rejected']);
  await idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true });
  await untilSynced();
  expect(await named()).toEqual([]);
}, 60_000);

test('the command exceptions lists a protected account and a dropped dead letter', async () => {
  await idp.createUser('kept@acme.example');
  const strangers = (await platform.state()).users.filter(
    ({ userName: name }) => !ids.has(name) && !name.startsWith('kept'),
  );
  const { userName = '' } = strangers.at(-1) ?? {};
  const taken = await idp.createUser(userName);
  await untilSynced();
  expect(await named()).toEqual([`${userName} NotAdopted`, 'kept@acme.example Protected']);
  expect((await status()).blocked).toBe(1);

  expect(await command('dead-letters', 'show', 'kept@acme.example')).toMatchObject({
    code: 4,
    answer: expect.stringContaining('kept@acme.example is no dead letter'),
  });
  expect((await command('dead-letters', 'show', userName)).answer).toContain(`User:${taken}`);
  expect(await command('dead-letters', 'drop', userName)).toMatchObject({
    code: 0,
    answer: expect.stringContaining('1 dead letter taken off the list'),
  });
  expect(await named()).toEqual([`${userName} Dropped`, 'kept@acme.example Protected']);
  expect((await command('exceptions', '--reason', 'Dropped')).answer).toContain(
    'dropped from the dead letters',
  );
  expect((await command('explain', userName)).answer).toContain('is left alone at main');
  expect((await command('plan')).answer).toMatch(/2 exceptions/);

  expect((await idp.send('DELETE', `/Users/${taken}`)).status).toBe(204);
  await untilSynced();
  expect(await named()).toEqual(['kept@acme.example Protected']);
}, 60_000);
