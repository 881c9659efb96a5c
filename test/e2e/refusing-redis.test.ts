// Tests the output of commands while Redis answers reads and refuses writes, and while its memory is nearly full.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { ADMIN_TOKEN, TOKEN } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { askHealth } from '../support/health.ts';
import { findTool, testWith } from '../support/needs.ts';
import { scrape } from '../support/scrape.ts';
import { openPlace, type Place } from '../support/situation.ts';

const CHROMIUM = findTool('chromium', 'chromium-browser', 'google-chrome', 'chromium-headless-shell');

let place: Place;
let ada: string;
beforeAll(async () => {
  place = await openPlace({ ownRedis: true });
  ada = await place.idp.createUser('ada@acme.example');
  await place.idle();
}, 30_000);
afterAll(() => place.stop());

const runCommand = (...command: string[]) => place.commands.run(...command);
async function limitMemory(share: number): Promise<void> {
  const used = Number(/used_memory:(\d+)/.exec(await place.redis.info('memory'))?.[1]);
  await place.redis.config('SET', 'maxmemory', String(Math.round(used * share)));
}

test('a key of Redis has an unexpected type → dead-letters list says that Redis refuses a command, not that the connection fails', async () => {
  const key = `${place.settings.redis.prefix}:{default}:blocked:main`;
  await place.redis.set(key, 'text');
  expect((await runCommand('dead-letters', 'list')).text).toContain('(it refuses a command)');
  await place.redis.del(key);
});

test('a key of Redis has an unexpected type while an operation reconciles → the operation and status tell when Redis refused a command', async () => {
  const key = `${place.settings.redis.prefix}:{default}:blocked:main`;
  await place.redis.set(key, 'text');
  const ask = async (path: string, method = 'GET'): Promise<any> => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
    const body = method === 'GET' ? {} : { body: '{}' };
    return (
      await fetch(`http://127.0.0.1:${place.port}/admin/v1${path}`, { method, headers, ...body })
    ).json();
  };
  const { id } = await ask('/reconcile', 'POST');
  const ended = await eventually('ended', async () => {
    const operation = await ask(`/operations/${id}`);
    return operation.state !== 'running' && operation;
  });
  await place.redis.del(key);
  const refused = String.raw`at 20\S+Z Redis did not answer, or took no writes \(it refuses a command\)`;
  expect([ended.state, ended.message]).toEqual([
    'failed',
    expect.stringMatching(new RegExp(`^${refused}: scim-bridge doctor tells whether it does now\\.$`)),
  ]);
  expect((await runCommand('status')).text).toMatch(new RegExp(`: failed with "${refused}"`));
  expect((await runCommand('reconcile', '--yes')).code).toBe(0);
});

test('the memory of Redis is nearly full → doctor warns about it', async () => {
  // 50 MB make the memory of connections negligible. SETRANGE fills them on the server, so no client buffer grows.
  await place.redis.setrange('filler', 50_000_000, 'x');
  await limitMemory(1.1);
  expect((await runCommand('doctor')).text).toMatch(
    /! redis: its memory is [89]\d % full \(limit [\d.]+ MB\)/,
  );
});

test("doctor reports how often Redis syncs its append-only file, whatever the bridge's settings promise", async () => {
  expect((await runCommand('doctor')).text).toContain('kept in an append-only file, appendfsync everysec');
  await place.redis.config('SET', 'appendfsync', 'no');
  const { code, text } = await runCommand('doctor');
  expect([code, text]).toEqual([
    1,
    expect.stringContaining('✘ redis: the operating system decides when the append-only file is written'),
  ]);
  expect(text).not.toContain('kept in an append-only file');
  await place.redis.config('SET', 'appendfsync', 'everysec');
});

test('the maxmemory-policy evicts keys → /readyz answers 503, status exits 2 and names the policy, and the metric of ScimBridgeRedisUnsafe is 1', async () => {
  const readyz = async (): Promise<number> => (await fetch(`http://127.0.0.1:${place.port}/readyz`)).status;
  const findings = async (): Promise<number[]> => {
    const now = await scrape(place.port);
    return ['redisUnsafe', 'noApi'].map((finding) => now.value('bridge_fleet_findings', { finding }));
  };
  const before = [await readyz(), ...(await findings()), (await runCommand('status')).code];
  expect(before).toEqual([200, 0, 0, 0]);
  await place.redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
  const { code, text } = await runCommand('status');
  const ready = await readyz();
  await eventually('the metric tells it', async () => (await findings())[0] === 1);
  const [, noApi] = await findings();
  await place.redis.config('SET', 'maxmemory-policy', 'noeviction');
  expect([code, ready, noApi]).toEqual([2, 503, 0]);
  expect(text).toContain(
    `! no process is ready, so a load balancer sends none a push: Redis may evict keys (maxmemory-policy allkeys-lru)`,
  );
});

/** Returns the findings of the store, and the other components that `/health` shows to an operator. */
async function readHealth(): Promise<{ findings: string[]; others: string[] }> {
  const {
    store,
    process: _,
    ...others
  } = (await askHealth({ app: { port: place.port } }, '/health')).body.components;
  return { findings: store.findings, others: Object.keys(others) };
}

test('one check of Redis fails while reads succeed → /health names the failed check, and still shows data, fleet and each target', async () => {
  const others = ['data', 'fleet', 'target main'];
  expect(await readHealth()).toEqual({ findings: [], others });
  await place.redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
  const evicting = await readHealth();
  await place.redis.config('SET', 'maxmemory-policy', 'noeviction');
  expect(evicting).toEqual({ findings: [expect.stringContaining('Redis may evict keys')], others });
  await limitMemory(0.5);
  const full = await readHealth();
  await place.redis.config('SET', 'maxmemory', '0');
  expect(full).toEqual({ findings: expect.arrayContaining([expect.stringContaining('memory')]), others });
});

test('the memory of Redis is full → status and doctor report this, and report no process as missing', async () => {
  await place.redis.del('filler');
  await limitMemory(0.5);
  const status = await runCommand('status');
  expect(status.code).toBe(2);
  expect(status.text).toMatch(
    /! Redis takes no writes \(its memory of [\d.]+ MB is full\): pushes are refused/,
  );
  expect(status.text).not.toContain('no process of the bridge');
  const doctor = await runCommand('doctor');
  expect(doctor.code).toBe(1);
  expect(doctor.text).toMatch(
    /✘ redis: Redis takes no writes, because its memory .* is full\. Raise maxmemory/,
  );
  expect(doctor.text).toMatch(
    /✘ log default: not checked: Redis does not answer, or takes no writes \(its memory is full\)/,
  );
  for (const area of ['fleet', 'data default', 'target main']) expect(doctor.text).toContain(` ${area}: `);
  const explained = await runCommand('explain', 'ada@acme.example');
  expect([explained.code, explained.text]).toEqual([0, expect.stringContaining('User ada@acme.example  ')]);
  // Each call to the platform is counted in Redis.
  expect((await runCommand('verify-access', 'ada@acme.example')).code).toBe(1);
  const deep = await runCommand('doctor', '--deep');
  expect(deep.code).toBe(1);
  expect(deep.text).toMatch(/✘ data: not checked: .*its memory is full/);
  expect(deep.text).toMatch(/✔ target main: the key is valid/);
  const hold = await runCommand('hold');
  expect(hold.code).toBe(1);
  expect(hold.text).toMatch(/^Redis does not answer, or takes no writes \(its memory is full\)/m);
});

test('the memory of Redis is full → deletions and the removal of a member are stored and say what they wait for, and are applied once the memory is raised; other pushes get 503', async () => {
  await place.redis.config('SET', 'maxmemory', '0');
  const bob = await place.idp.createUser('bob@acme.example');
  const group = await place.idp.createGroup('Bobs', [bob]);
  const team = await place.idp.createGroup('Team', [ada]);
  await place.idle();
  await limitMemory(0.5);
  const ask = (method: string, path: string, body?: object, token = TOKEN): Promise<Response> =>
    fetch(`http://127.0.0.1:${place.port}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  const close = {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'replace', path: 'active', value: false }],
  };
  const answers = [
    await ask('PATCH', `/scim/v2/Users/${bob}`, close),
    await ask('POST', '/scim/v2/Users', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: 'eve@acme.example',
    }),
    await ask('DELETE', `/scim/v2/Groups/${group}`),
    await ask('DELETE', `/scim/v2/Users/${bob}`),
    await ask('PATCH', `/scim/v2/Groups/${team}`, {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'remove', path: `members[value eq "${ada}"]` }],
    }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 204, 204, 204]);
  const inflight = `${place.settings.redis.prefix}:{default}:inflight:main`;
  await eventually('all were handed to the queue', async () => (await place.redis.zcard(inflight)) === 3);
  const { text } = await runCommand('status');
  expect(text).toMatch(/waiting until Redis takes writes: 3 handed over$/m);
  expect(text).toContain(
    'pushes are refused, except those that free memory first, such as deletions, and no process',
  );
  expect(text).not.toContain('in the queue');
  const explained = await runCommand('explain', `User:${bob}`);
  expect(explained.text).toContain('; a change waits until Redis takes writes');
  expect(explained.text).not.toContain('in the queue');
  const order = await ask('POST', '/admin/v1/hold', {}, ADMIN_TOKEN);
  expect([order.status, ((await order.json()) as { detail: string }).detail]).toEqual([
    503,
    'Redis does not answer, or takes no writes (its memory is full): scim-bridge doctor says what is in the way. Repeat the request when Redis answers and takes writes.',
  ]);
  await place.redis.config('SET', 'maxmemory', '0');
  await place.idle();
  expect(await place.platform.user('bob@acme.example')).toMatchObject({ active: false, groups: [] });
});

test('Redis is a replica → explain of a linked person tells what is stored, and that the platform was therefore not read', async () => {
  await place.redis.replicaof('127.0.0.1', 1);
  const { code, text } = await runCommand('explain', 'ada@acme.example');
  await place.redis.replicaof('NO', 'ONE');
  expect([code, text]).toEqual([0, expect.stringContaining('User ada@acme.example  ')]);
  expect(text).toContain('main was not read, because Redis takes no writes');
});

async function expectNamed(reason: string): Promise<void> {
  const doctor = await runCommand('doctor');
  expect(doctor.code).toBe(1);
  expect(doctor.text).toContain(`✘ redis: Redis takes no writes, because ${reason}. `);
  const status = await runCommand('status');
  expect(status.code).toBe(2);
  expect(status.text).toContain(`! Redis takes no writes (${reason}): pushes are refused`);
  for (const { text } of [doctor, status]) {
    expect(text).not.toContain('no process of the bridge');
    expect(text).not.toContain('a writable primary');
  }
  for (const command of [['hold'], ['plan'], ['sync', 'ada@acme.example', '--dry-run']]) {
    const { code, text } = await runCommand(...command);
    expect([code, text]).toEqual([
      1,
      expect.stringContaining(`Redis does not answer, or takes no writes (${reason})`),
    ]);
    expect(text).not.toMatch(/platform|could not be read/);
  }
  const { json } = await runCommand('explain', 'ada@acme.example', '--json');
  expect(json[0].summary).toContain('main was not read, because Redis takes no writes.');
  expect(json[0].reasons.join('\n')).toContain(`Redis takes no writes (${reason})`);
}

test('Redis lacks replicas and refuses writes → doctor, status and hold name this reason', async () => {
  await place.redis.config('SET', 'maxmemory', '0');
  await place.redis.config('SET', 'min-replicas-to-write', '1');
  await expectNamed('fewer replicas follow it than min-replicas-to-write demands');
  await place.redis.config('SET', 'min-replicas-to-write', '0');
});

/** Opens a view of the operators' page in a browser. */
async function openPage(view: string) {
  const browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox'] });
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${place.port}/admin/#/${view}`);
  await page.getByLabel('Admin token').fill(ADMIN_TOKEN);
  await page.getByRole('button', { name: 'Sign in' }).click();
  return { shown: (): Promise<string> => page.innerText('main'), close: () => browser.close() };
}

testWith(CHROMIUM !== undefined, 'Chromium')(
  "the memory of Redis is full → the operators' page says of a deletion that was handed over that it waits until Redis takes writes",
  async () => {
    const eve = await place.idp.createUser('eve@acme.example');
    await place.idle();
    await limitMemory(0.5);
    expect((await place.idp.send('DELETE', `/Users/${eve}`)).status).toBe(204);
    await eventually('the deletion was handed over', async () =>
      (await runCommand('status')).text.includes('until Redis takes writes: 1 handed over'),
    );
    const page = await openPage('waiting');
    try {
      await eventually('the page lists it', async () => /^user, default/m.test(await page.shown()));
      expect(await page.shown()).toContain('waits until Redis takes writes');
      expect(await page.shown()).not.toContain('in the queue');
    } finally {
      await page.close();
      await place.redis.config('SET', 'maxmemory', '0');
    }
    await place.idle();
  },
  60_000,
);

testWith(CHROMIUM !== undefined, 'Chromium')(
  "Redis takes no writes → the operators' page of a person says that the platform was therefore not read",
  async () => {
    const [{ ref }] = (await runCommand('explain', 'ada@acme.example', '--json')).json;
    await place.redis.config('SET', 'min-replicas-to-write', '1');
    const page = await openPage(`person/${encodeURIComponent(ref)}`);
    try {
      await eventually('the page has asked for the platform', async () =>
        /^main .* read/m.test(await page.shown()),
      );
      expect(await page.shown()).toMatch(/^main was not read, because Redis takes no writes\.$/m);
      expect(await page.shown()).not.toContain('could not be read');
    } finally {
      await page.close();
      await place.redis.config('SET', 'min-replicas-to-write', '0');
    }
  },
  60_000,
);

test('a save of Redis to disk failed and writes are refused → doctor, status and hold name this reason', async () => {
  const [, folder] = (await place.redis.config('GET', 'dir')) as [string, string];
  const [, file] = (await place.redis.config('GET', 'dbfilename')) as [string, string];
  // A folder in the place of the snapshot makes the save fail, also for root.
  await mkdir(join(folder, file, 'x'), { recursive: true });
  await place.redis.config('SET', 'save', '3600 1');
  await place.redis.bgsave();
  await eventually('the save has failed', async () =>
    (await place.redis.info('persistence')).includes('rdb_last_bgsave_status:err'),
  );
  await expectNamed('it cannot write to its disk');
  await place.redis.config('SET', 'save', '');
});
