// Tests verify-access from the push to the rows, with real HTTP, Redis, sandbox and command line.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { request } from 'undici';
import { runCli } from '../../src/cli/index.ts';
import { buildBridge, TOKEN, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { targetHealth } from '../support/health.ts';
import { unwrapped } from '../support/unwrapped.ts';

const GROUPS_AND_COUNTRY = { measures: ['orders.count'], dimensions: ['orders.country'] };
const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-test-'));
const file = join(folder, 'bridge.json');
const attributes = {
  country: { type: 'string' as const, from: 'addresses[type eq "work"].country', onEmpty: 'keep' as const },
  regions: {
    type: 'string_array' as const,
    expression: 'groups.display[$match($, /^region-/)]',
    onEmpty: 'clear' as const,
  },
};

let bridge: Bridge;
let ada: string;
let analysts: string;

beforeAll(async () => {
  bridge = await buildBridge({
    configure: ({ targets: { main } }) => {
      if (main) main.attributes = attributes;
    },
  });
  const { config, sandbox } = bridge;
  const settings = {
    redis: { url: config.redis.url, prefix: config.redis.prefix },
    connections: { default: { tokens: [{ name: 'primary', secret: TOKEN }] } },
    targets: {
      main: {
        url: sandbox.ready.platformUrl,
        token: sandbox.ready.fixtures.apiKeys.admin,
        allowLoopbackHttp: true,
        attributes,
      },
    },
    reconcile: { schedule: null },
  };
  writeFileSync(file, JSON.stringify(settings));
  ada = await hire('ada', 'DE');
  analysts = await bridge.idp.createGroup('analysts', [ada]);
  await bridge.idp.createGroup('region-north', [ada]);
  await untilSynced();
});
afterAll(async () => {
  await bridge.stop();
  rmSync(folder, { recursive: true, force: true });
});

const nameOf = (name: string): string => `${name}@acme.example`;
const hire = (name: string, country: string): Promise<string> =>
  bridge.idp.createUser(nameOf(name), { addresses: [{ type: 'work', country }] });
const untilSynced = () =>
  eventually('nothing is left to apply', async () => (await targetHealth(bridge)).dirty === 0);
const secret = (place = 0): string => bridge.sandbox.ready.fixtures.deployments[place]?.apiSecret ?? '';

interface Run {
  code: number;
  out: string;
  errors: string;
}

async function run(args: string[], env: NodeJS.ProcessEnv = {}): Promise<Run> {
  const lines = { out: [] as string[], errors: [] as string[] };
  const log = jest
    .spyOn(console, 'log')
    .mockImplementation((line) => void lines.out.push(unwrapped(String(line))));
  const error = jest
    .spyOn(console, 'error')
    .mockImplementation((line) => void lines.errors.push(String(line)));
  try {
    const code = await runCli(['--config', file, 'verify-access', ...args], { ...env, NO_COLOR: '1' });
    return { code, out: lines.out.join('\n'), errors: lines.errors.join('\n') };
  } finally {
    log.mockRestore();
    error.mockRestore();
  }
}

async function verify(user: string, args: string[] = [], env: NodeJS.ProcessEnv = {}) {
  const { code, out, errors } = await run([user, '--json', ...args], env);
  return { code, errors, report: out === '' ? undefined : JSON.parse(out) };
}
const stages = (report: any): unknown[] => report.chain.map(({ ok }: { ok?: boolean }) => ok);
const platform = (method: 'POST' | 'PATCH' | 'GET', path: string, body?: object) =>
  request(`${bridge.sandbox.ready.platformUrl}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${bridge.sandbox.ready.fixtures.apiKeys.admin}`,
      'content-type': 'application/json',
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  }).then(({ body: answer }) => answer.json() as Promise<any>);

test('verify-access shows every step from the push to the rows that the user sees', async () => {
  const { code, report } = await verify(nameOf('ada'), [], { DEPLOYMENT_API_SECRET: secret() });
  expect(report.ok).toBe(true);
  expect(code).toBe(0);
  expect(report.chain.map(({ stage }: { stage: string }) => stage)).toEqual([
    'push',
    'stored',
    'applied',
    'visible',
  ]);
  expect(stages(report)).toEqual([true, true, true, true]);
  for (const link of report.chain) expect(Date.parse(link.at)).toBeGreaterThan(Date.now() - 60_000);
  expect(report.chain[2].afterMs).toBeGreaterThanOrEqual(0);
  expect(report.securityContext).toEqual({
    cubeCloud: {
      groups: ['analysts', 'region-north'],
      userAttributes: { country: 'DE', regions: ['region-north'] },
    },
  });
  expect(report.entities.map(({ name }: { name: string }) => name)).toEqual([
    'countries',
    'customers',
    'orders',
  ]);
  expect(report.deployment).toEqual({ id: '1', name: 'sales', environment: 'main' });
  expect(report.query.kind).toBe('rows');
  expect(report.query.rows.length).toBeGreaterThan(0);
});

test("an operator's query in verify-access runs as the user and returns only rows of the user's country", async () => {
  const query = JSON.stringify(GROUPS_AND_COUNTRY);
  const secretFile = join(folder, 'secret');
  writeFileSync(secretFile, `${secret()}\n`);
  const { report } = await verify(nameOf('ada'), ['--query', query, '--secret-file', secretFile]);
  expect(report.query.rows.map((row: any) => row['orders.country'])).toEqual(['DE']);
  expect(Number(report.query.rows[0]['orders.count'])).toBeGreaterThan(0);
  writeFileSync(join(folder, 'query.json'), query);
  const again = await verify(nameOf('ada'), [
    '--query',
    join(folder, 'query.json'),
    '--secret-file',
    secretFile,
  ]);
  expect(again.report.query.rows).toEqual(report.query.rows);
});

test('verify-access without the API secret succeeds and shows no rows', async () => {
  await bridge.platform.forgetRequests();
  const { code, report } = await verify(ada);
  expect([code, report.ok, report.query.kind]).toEqual([0, true, 'notAllowed']);
  expect(report.query.message).toBe('API scope is missing: data');
  const writes = (await bridge.platform.writes()).map(({ path }) => path.split('?')[0]);
  expect(writes.map((path) => path?.replace(/.*\//, ''))).toEqual(['tokens-for-meta-sync', 'load']);
});

test('the text output of verify-access has four lines with ticks, the security context and the visible rows', async () => {
  // The reconcile at the start of the process may mark people that were pushed meanwhile.
  await untilSynced();
  const { code, out, errors } = await run([nameOf('ada')], { DEPLOYMENT_API_SECRET: secret() });
  expect(errors).toBe('');
  for (const line of [
    /✔ push +20\S+Z +accepted; version \d/,
    /✔ stored +20\S+Z/,
    /✔ applied +20\S+Z +read back: active, 2 groups, every value as desired \(\d+ ms later, looked \d+ ms\)/,
    /✔ visible +20\S+Z +3 entities, \d+ rows? of the query in sales \(main\)/,
    /groups +analysts, region-north/,
    /country +"DE"/,
    /sees +countries, customers, orders/,
    /looked at deployment sales, one of: sales \(1\), ops \(2\)/,
  ])
    expect(out).toMatch(line);
  expect(code).toBe(0);
  expect(out + errors).not.toContain(secret());
});

test('a value is changed by hand at the platform → verify-access fails, and names the desired and the present value', async () => {
  const bea = await hire('bea', 'FR');
  await bridge.idp.patch(`/Groups/${analysts}`, { op: 'add', path: 'members', value: [{ value: bea }] });
  await untilSynced();
  const { id, scimId } = (await bridge.platform.user(nameOf('bea'))) ?? { id: 0, scimId: '' };
  const { items } = await platform('GET', '/api/v1/user-attributes?name=country');
  await platform('POST', '/api/v1/user-attribute-values', {
    userId: String(id),
    userAttributeId: String(items[0].id),
    value: 'US',
  });
  const group = (await bridge.platform.state()).groups.find(({ displayName }) => displayName === 'analysts');
  await platform('PATCH', `/api/scim/v2/Groups/${group?.scimId}`, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'remove', path: `members[value eq "${scimId}"]` }],
  });
  const { code, report } = await verify(nameOf('bea'));
  expect([code, ...stages(report)]).toEqual([2, true, true, false, true]);
  expect(report.differences).toEqual([
    { name: 'attributes.country', desired: 'FR', actual: 'US' },
    { name: 'groups', desired: ['analysts'], actual: [] },
  ]);
  // The report shows what the user currently sees: without the group only rows that are visible to everyone.
  expect(report.entities.map(({ name }: { name: string }) => name)).toEqual(['countries']);
  expect((await run([nameOf('bea')])).out).toContain('attributes.country: wanted "FR", is "US"');
});

test('a change of the user is pending → verify-access fails', async () => {
  const cleo = await hire('cleo', 'JP');
  await untilSynced();
  await runCli(['--config', file, 'hold'], {});
  await bridge.idp.patch(`/Users/${cleo}`, { op: 'replace', path: 'displayName', value: 'Cleo' });
  const { code, report } = await verify('ext-cleo@acme.example');
  expect([code, ...stages(report)]).toEqual([2, true, true, false, true]);
  expect(report.chain[2].detail).toContain('a change waits to be applied');
  await runCli(['--config', file, 'release'], {});
  await untilSynced();
  expect((await verify(cleo)).code).toBe(0);
});

test('verify-access of a deactivated user succeeds without rows, and requests no data API token', async () => {
  const dan = await hire('dan', 'US');
  await untilSynced();
  await bridge.idp.patch(`/Users/${dan}`, { op: 'replace', value: { active: false } });
  await untilSynced();
  await bridge.platform.forgetRequests();
  const { code, report } = await verify(nameOf('dan'));
  expect([code, ...stages(report)]).toEqual([0, true, true, true, true]);
  expect(report.chain[3].detail).toBe('nothing: the account is closed');
  expect([report.entities, report.account.active]).toEqual([null, false]);
  expect(await bridge.platform.writes()).toEqual([]);
});

test('verify-access of a user who was never pushed fails before its first step', async () => {
  const { code, report } = await verify('nobody@acme.example');
  expect([code, report.ok, report.person, ...stages(report)]).toEqual([
    4,
    false,
    null,
    false,
    undefined,
    undefined,
    undefined,
  ]);
});

test('verify-access uses the named deployment; it exits 1 for an unknown one, a malformed query or an outage, and 2 for a refused query', async () => {
  const ops = await verify(ada, ['--deployment', 'ops'], { DEPLOYMENT_API_SECRET: secret(1) });
  // No policy of this deployment names a group of the user.
  expect([ops.code, ops.report.deployment.name, ops.report.entities]).toEqual([2, 'ops', []]);
  const none = await verify(ada, ['--deployment', 'nowhere']);
  expect(none.code).toBe(1);
  expect(none.errors).toContain(
    'There is no deployment nowhere: the platform key reaches sales (1), ops (2).',
  );
  const refused = await verify(ada, ['--query', '{"measures":["orders.nonsense"]}'], {
    DEPLOYMENT_API_SECRET: secret(),
  });
  expect([refused.code, refused.report.query.kind]).toEqual([2, 'refused']);
  expect((await run([ada, '--query', '[]'])).code).toBe(1);
  await bridge.platform.control('PATCH', '/faults', { status5xx: true });
  const away = await verify(ada);
  await bridge.platform.control('PATCH', '/faults', {});
  expect(away.code).toBe(1);
  expect(away.errors).toContain('503');
});
