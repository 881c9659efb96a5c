// Tests that commands go on with the next target when the first one does not answer, and tell what they have done before.
import '../support/load-modules.ts';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { createPlatformView, type PlatformView } from '../support/platform-view.ts';
import { openPlace, type Place } from '../support/situation.ts';

const NAMES = ['ann', 'bob', 'eve'].map((name) => `${name}@acme.example`);
const [ANN = '', BOB = ''] = NAMES;

let place: Place;
let other: Sandbox;
let there: PlatformView;
beforeAll(async () => {
  place = await openPlace({});
  other = await startSandbox();
  there = createPlatformView(other.ready.controlUrl);
  await place.change(({ connections, targets }) => {
    const { platformUrl: url, fixtures } = other.ready;
    Object.assign((connections as { default: object }).default, { targets: ['main', 'second'] });
    Object.assign(targets, { second: { ...targets.main, url, token: fixtures.apiKeys.admin } });
  });
  for (const name of NAMES) await place.idp.createUser(name);
  await place.idle();
  await place.stopApps();
}, 60_000);
afterEach(() => place.platform.control('PATCH', '/faults', {}));
afterAll(async () => {
  await place.stop();
  await other.stop();
});

test('the first of two targets answers 503 → sync brings the change to the second, names the first, and ends with 1', async () => {
  const id = (await there.user(ANN))?.scimId;
  const headers = { authorization: `Bearer ${other.ready.fixtures.apiKeys.admin}` };
  await fetch(`${other.ready.platformUrl}/api/scim/v2/Users/${id}`, {
    method: 'PATCH',
    headers: { ...headers, 'content-type': 'application/scim+json' },
    body: JSON.stringify({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path: 'displayName', value: 'Meddled' }],
    }),
  });
  await place.platform.control('PATCH', '/faults', { status5xx: { share: 1, status: 503 } });
  const { code, errors, json } = await place.commands.run('sync', ANN, '--timeout', '20', '--json');
  expect([code, errors]).toEqual([1, expect.stringMatching(/^default → main: The target main .*503/)]);
  expect(json).toMatchObject([{ target: 'second', outcome: 'equal' }]);
  expect((await there.user(ANN))?.displayName).not.toBe('Meddled');
}, 60_000);

test('the platform answers 503 in the middle of links import → it tells the line and the number linked so far, exit 1', async () => {
  const file = join(place.commands.folder, 'links.ndjson');
  await place.commands.run('links', 'export', file, '--target', 'second');
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  for (const name of [ANN, BOB])
    await place.commands.run('links', 'forget', name, '--target', 'second', '--leave-account');
  const of = (name: string): string => lines.find((line) => line.includes(name)) ?? '';
  writeFileSync(file, `${of(ANN)}\n`);
  const bob = (await there.user(BOB))?.scimId ?? '';
  appendFileSync(file, `${of(BOB)}\n`);
  await there.control('PATCH', '/faults', { rules: [{ path: `/Users/${bob}$`, status5xx: { share: 1 } }] });
  const { code, text } = await place.commands.run('links', 'import', file);
  expect([code, text]).toEqual([1, expect.stringContaining('1 linked, 0 as they were.')]);
  expect(text).toContain('The import ended at line 2.');
  await there.control('PATCH', '/faults', {});
  expect((await place.commands.run('links', 'import', file)).text).toBe('1 linked, 1 as they were.');
}, 60_000);
