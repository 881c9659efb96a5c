// Tests doctor on a healthy and on a broken installation.
import { randomUUID } from 'node:crypto';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { createCommands } from '../support/command.ts';
import { createPlatformView } from '../support/platform-view.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());

async function doctor(change: { redisUrl?: string; token?: string; url?: string; attributes?: object } = {}) {
  const commands = createCommands({
    redis: { url: change.redisUrl ?? process.env.TEST_REDIS_URL, prefix: `test-${randomUUID()}` },
    connections: { default: { tokens: [{ name: 'primary', secret: 'a-token-for-tests-0123456789' }] } },
    targets: {
      main: {
        url: change.url ?? sandbox.ready.platformUrl,
        token: change.token ?? sandbox.ready.fixtures.apiKeys.admin,
        allowLoopbackHttp: true,
        timeoutMs: 2000,
        attributes: change.attributes ?? { country: { type: 'string', from: 'userType' } },
      },
    },
    reconcile: { schedule: null },
  });
  try {
    const { code, json } = await commands.run('doctor', '--json');
    const lines = (json as { area: string; level: string; message: string; advice: string | null }[]).map(
      ({ area, level, message, advice }) => `${level} ${area}: ${message} | ${advice ?? ''}`,
    );
    return { code, text: lines.join('\n'), errors: lines.filter((each) => each.startsWith('error target')) };
  } finally {
    commands.remove();
  }
}

test('doctor of a healthy target exits 0 and reports address, key, SCIM, attributes, ids and clock', async () => {
  const { text, errors } = await doctor();
  expect(errors).toEqual([]);
  for (const words of [
    'ok config: the settings are valid',
    'ok target main: the key is valid and belongs to admin@acme.example',
    'ok target main: SCIM is on',
    'ok target main: SCIM ids lead to accounts',
    'ok target main: attribute definitions can be read',
    'ok clock: agrees with main',
    'ok clock: agrees with Redis',
  ])
    expect(text).toContain(words);
});

test('doctor reports a refused API key, an address where nothing listens, and SCIM switched off each in its own words', async () => {
  const key = await doctor({ token: 'sk-wrong-0123456789abcdef' });
  expect([key.code, key.errors.join()]).toEqual([1, expect.stringContaining('refuses the key (401)')]);
  const address = await doctor({ url: 'http://127.0.0.1:9' });
  expect([address.code, address.errors.join()]).toEqual([1, expect.stringContaining('does not answer')]);
  const platform = createPlatformView(sandbox.ready.controlUrl);
  await platform.control('PATCH', '/settings', { scimEnabled: false });
  const scim = await doctor();
  expect([scim.code, scim.errors.join()]).toEqual([1, expect.stringContaining('SCIM cannot be used')]);
  await platform.control('PATCH', '/settings', { scimEnabled: true });
});

test.each([
  [
    '503',
    { status5xx: { share: 1, status: 503 } },
    'Ask the operator of the platform; changes are kept until it works.',
  ],
  [
    '500',
    { status5xx: { share: 1, status: 500 } },
    'Ask the operator of the platform; changes are kept until it works.',
  ],
  [
    '429',
    { status5xx: { share: 1, status: 429 } },
    'Wait, or lower targets.main.rateLimit.requestsPerSecond.',
  ],
  [
    'nothing',
    { dropBefore: { share: 1 } },
    'Ask the operator of the platform; changes are kept until it works.',
  ],
  ['403', { status5xx: { share: 1, status: 403 } }, ''],
])(
  'SCIM and the attribute definitions answer %s → the advice of doctor names rights and SCIM only for a refusal',
  async (_answer, fault, advice) => {
    const platform = createPlatformView(sandbox.ready.controlUrl);
    const rules = ['/api/scim/v2/Users', '/api/v1/user-attributes'].map((path) => ({
      method: 'GET',
      path,
      times: 9999,
      ...fault,
    }));
    await platform.control('PATCH', '/faults', { rules });
    const { code, errors } = await doctor();
    await platform.control('PATCH', '/faults', {});
    expect(code).toBe(1);
    const of = (area: string): string => errors.find((each) => each.includes(area)) ?? '';
    expect(of('SCIM cannot be used')).toContain(
      ` | ${advice || 'Switch SCIM on for the tenant and use the key of an administrator.'}`,
    );
    expect(of('attribute definitions cannot be read')).toContain(
      ` | ${advice || 'Use the key of an administrator.'}`,
    );
  },
  30_000,
);

test('doctor reports an attribute of another type, and checks the target even when Redis is unavailable', async () => {
  const admin = sandbox.ready.fixtures.apiKeys.admin;
  const made = await fetch(`${sandbox.ready.platformUrl}/api/v1/user-attributes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'level', type: 'string' }),
  });
  expect(made.status).toBeLessThan(300);
  const typed = await doctor({ attributes: { level: { type: 'number', from: 'title' } } });
  expect([typed.code, typed.errors.join()]).toEqual([
    1,
    expect.stringContaining('level is string there and number'),
  ]);
  const away = await doctor({ redisUrl: 'redis://127.0.0.1:9' });
  expect(away.code).toBe(1);
  expect(away.text).toContain('error redis: Redis does not answer');
  expect(away.text).toContain('ok target main: SCIM is on');
}, 30_000);

test('check-config accepts two targets with the same address and warns with the names of both', async () => {
  const { platformUrl: url, fixtures } = sandbox.ready;
  const target = { url, token: fixtures.apiKeys.admin, allowLoopbackHttp: true };
  const commands = createCommands({
    connections: { default: { tokens: [{ name: 'primary', secret: 'a-token-for-tests-0123456789' }] } },
    targets: { main: target, second: target },
  });
  try {
    const { code, errors } = await commands.run('check-config');
    expect([code, errors]).toEqual([
      0,
      expect.stringContaining(
        'Warning: /targets/second/url: several targets have the same address: main, second. Give each',
      ),
    ]);
  } finally {
    commands.remove();
  }
});
