// Tests the rotation of secrets in files at run time.
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import type { App } from '../../../src/app.ts';
import { eventually } from '../../support/eventually.ts';
import { buildBridge, TOKEN } from '../../support/build-bridge.ts';
import { createRig, statusOf, type Rig } from './rig.ts';

const ONE = 'first-token-from-a-file-0123456789';
const TWO = 'second-token-from-a-file-0123456789';
const ADMIN = 'admin-token-from-a-file-0123456789';
let rig: Rig;
let app: App;
let round = 0;

/** Replaces secrets as Kubernetes does: a new folder, and a symbolic link that is changed to it in one step. */
function mount(folder: string, files: Record<string, string>): void {
  const version = `..version-${++round}`;
  mkdirSync(join(folder, version));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, version, name), text);
  symlinkSync(version, join(folder, '..next'));
  renameSync(join(folder, '..next'), join(folder, '..data'));
}

/** Starts a service whose secrets are in files. */
function onFiles(files: Record<string, string>): Rig {
  return createRig((folder) => {
    mount(folder, files);
    const from = (name: string) => `\${file:${join(folder, '..data', name)}}`;
    return {
      server: { port: 0, host: '127.0.0.1', adminToken: from('ADMIN_TOKEN') },
      connections: { default: { tokens: [{ name: 'primary', secret: from('SCIM_TOKEN') }] } },
    };
  });
}

beforeAll(async () => {
  rig = onFiles({ SCIM_TOKEN: `${ONE}\n`, ADMIN_TOKEN: ADMIN });
  app = await rig.start();
});
afterAll(() => rig.stop());

const adminStatus = async (token: string, { port } = app): Promise<number> => {
  const answer = await request(`http://127.0.0.1:${port}/admin/v1/tokens`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await answer.body.dump();
  return answer.statusCode;
};

test('after a secret file is replaced, the new token is accepted and the former one answers 401, without a restart', async () => {
  expect([await statusOf(app, ONE), await statusOf(app, TWO), await adminStatus(ADMIN)]).toEqual([
    200, 401, 200,
  ]);
  mount(rig.folder, { SCIM_TOKEN: TWO, ADMIN_TOKEN: `${ADMIN}-next\r\n` });
  await eventually('the new one is taken', async () => (await statusOf(app, TWO)) === 200, 20_000);
  expect(await statusOf(app, ONE)).toBe(401);
  expect([await adminStatus(ADMIN), await adminStatus(`${ADMIN}-next`)]).toEqual([401, 200]);
  const log = rig.logs.join('');
  expect(log).toContain('/connections/default/tokens/0/secret');
  for (const secret of [ONE, TWO, ADMIN]) expect(log).not.toContain(secret);
});

/** The tests run concurrently with separate services, because files are read every other second. */
test('a secret file that becomes empty, short, equal to another or missing is logged once, and the former token stays valid', async () => {
  const cases: [what: string, files: Record<string, string>, message: RegExp][] = [
    ['empty', { SCIM_TOKEN: '', ADMIN_TOKEN: ADMIN }, /empty/],
    ['short', { SCIM_TOKEN: 'short', ADMIN_TOKEN: ADMIN }, /shorter/],
    ['the same as another', { SCIM_TOKEN: ADMIN, ADMIN_TOKEN: ADMIN }, /same secret/],
    ['gone', { ADMIN_TOKEN: ADMIN }, /ENOENT/],
  ];
  await Promise.all(
    cases.map(async ([what, files, message]) => {
      const own = onFiles({ SCIM_TOKEN: ONE, ADMIN_TOKEN: ADMIN });
      try {
        const service = await own.start();
        mount(own.folder, files);
        const complaints = () => own.logs.filter((line) => message.test(line));
        await eventually(`${what}: it is said`, () => complaints().length > 0, 20_000);
        await new Promise((resolve) => setTimeout(resolve, 2200));
        expect([what, await statusOf(service, ONE), complaints().length]).toEqual([what, 200, 1]);
      } finally {
        await own.stop();
      }
    }),
  );
}, 60_000);

test('an admin token file that gets the token of an identity provider is refused, and the former admin token stays valid', async () => {
  const replacements = [
    { SCIM_TOKEN: ONE, ADMIN_TOKEN: ONE },
    { SCIM_TOKEN: 'short', ADMIN_TOKEN: ONE },
  ];
  await Promise.all(
    replacements.map(async (files) => {
      const own = onFiles({ SCIM_TOKEN: ONE, ADMIN_TOKEN: ADMIN });
      try {
        const service = await own.start();
        mount(own.folder, files);
        const complaint = () =>
          own.logs.find((line) => line.includes('/server/adminToken') && /same secret/.test(line));
        await eventually('the refusal is logged', () => complaint() !== undefined, 20_000);
        expect([
          await adminStatus(ONE, service),
          await adminStatus(ADMIN, service),
          await statusOf(service, ONE),
        ]).toEqual([401, 200, 200]);
        expect(own.logs.join('')).not.toContain(ONE);
      } finally {
        await own.stop();
      }
    }),
  );
}, 60_000);

test('a platform key file that gets the token of an identity provider is refused, and calls keep the former key', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-test-'));
  const file = join(folder, 'PLATFORM_TOKEN');
  const path = '/targets/main/token';
  const bridge = await buildBridge({
    configure: (config) => {
      writeFileSync(file, config.targets.main?.token ?? '');
      config.secretFiles.push({ path, parts: [{ file }] });
    },
  });
  try {
    await bridge.platform.forgetRequests();
    writeFileSync(file, TOKEN);
    const lines = () => bridge.logs.filter((line) => line.includes(path));
    await eventually('the file is read', () => lines().length > 0, 20_000);
    await bridge.idp.createUser('new@acme.example');
    await eventually('the user arrives', () => bridge.platform.user('new@acme.example'));
    expect((await bridge.platform.requests()).filter(({ status }) => status === 401)).toEqual([]);
    expect(lines().map((line) => (JSON.parse(line) as { problem: string }).problem)).toEqual([
      'The same secret is used at /connections/default/tokens/0/secret.',
    ]);
    expect(bridge.logs.join('')).not.toContain(TOKEN);
  } finally {
    await bridge.stop();
    rmSync(folder, { recursive: true });
  }
}, 60_000);
