// Secrets in files change while the service runs.
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import type { App } from '../../../src/app.ts';
import { eventually } from '../../support/eventually.ts';
import { createRig, statusOf, type Rig } from './rig.ts';

const ONE = 'first-token-from-a-file-0123456789';
const TWO = 'second-token-from-a-file-0123456789';
const ADMIN = 'admin-token-from-a-file-0123456789';
let rig: Rig;
let app: App;
let round = 0;

/** As Kubernetes does it: a new folder, and a link that is swapped to it in one step. */
function mount(folder: string, files: Record<string, string>): void {
  const version = `..version-${++round}`;
  mkdirSync(join(folder, version));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, version, name), text);
  symlinkSync(version, join(folder, '..next'));
  renameSync(join(folder, '..next'), join(folder, '..data'));
}

beforeAll(async () => {
  rig = createRig((folder) => {
    mount(folder, { SCIM_TOKEN: `${ONE}\n`, ADMIN_TOKEN: ADMIN });
    const from = (name: string) => `\${file:${join(folder, '..data', name)}}`;
    return {
      server: { port: 0, host: '127.0.0.1', adminToken: from('ADMIN_TOKEN') },
      connections: { default: { tokens: [{ name: 'primary', secret: from('SCIM_TOKEN') }] } },
    };
  });
  app = await rig.start();
});
afterAll(() => rig.stop());

const adminStatus = async (token: string): Promise<number> => {
  const answer = await request(`http://127.0.0.1:${app.port}/admin/v1/tokens`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await answer.body.dump();
  return answer.statusCode;
};

test('a swapped file brings the new token in and puts the old one out, without a restart', async () => {
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

test.each([
  ['empty', { SCIM_TOKEN: '', ADMIN_TOKEN: `${ADMIN}-next` }, /empty/],
  ['short', { SCIM_TOKEN: 'short', ADMIN_TOKEN: `${ADMIN}-next` }, /shorter/],
  ['the same as another', { SCIM_TOKEN: `${ADMIN}-next`, ADMIN_TOKEN: `${ADMIN}-next` }, /same secret/],
  ['gone', { ADMIN_TOKEN: `${ADMIN}-next` }, /ENOENT/],
])('a secret that is %s is not taken over, and the log says so once', async (_what, files, message) => {
  const before = rig.logs.length;
  mount(rig.folder, files);
  const complaints = () => rig.logs.slice(before).filter((line) => message.test(line));
  await eventually('it is said', () => complaints().length > 0, 20_000);
  expect(await statusOf(app, TWO)).toBe(200);
  await new Promise((resolve) => setTimeout(resolve, 2200));
  expect(complaints()).toHaveLength(1);
});
