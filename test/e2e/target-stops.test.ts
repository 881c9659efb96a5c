// Tests that commands report why calls to a target stop, since when and for how long, and that they end within their limits.
import { setTimeout as sleep } from 'node:timers/promises';
import '../support/load-modules.ts';
import { TOKEN } from '../support/build-bridge.ts';
import { createCommands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { createScenarios } from '../support/scenario.ts';
import { openPlace, type Place } from '../support/situation.ts';

const BOB = 'bob@acme.example';
/** 9 s, and the start of a command on a busy machine; less than a pause after a refused key and a wait for it. */
const MOST_MS = 20_000;
const TIME = '20[\\d-]+T[\\d:.]+Z';
const tokens = [{ name: 'primary', secret: TOKEN }];
const rest = {
  connections: { default: { tokens }, hr: { tokens: [{ name: 'hr', secret: `${TOKEN}-hr` }] } },
};

const faults = (place: Place, body: object) => place.platform.control('PATCH', '/faults', body);
const breakerOf = async (place: Place) => (await place.commands.run('status', '--json')).json[0].breaker;

/** Runs a command and returns its output with the time that it took. */
async function timed(place: Place, ...args: string[]) {
  const startedAt = Date.now();
  const answer = await place.commands.run(...args);
  return { ...answer, ms: Date.now() - startedAt };
}

/** Pushes a change of Bob while the platform answers every call with a status. */
async function pushInto(place: Place, fault: object, status: number, person = BOB): Promise<void> {
  const id = await place.idp.createUser(person);
  await place.idle();
  await faults(place, fault);
  await place.idp.patch(`/Users/${id}`, { op: 'replace', path: 'displayName', value: 'Bob Two' });
  await eventually('refused', async () =>
    (await place.platform.requests()).some((each) => each.status === status),
  );
  await eventually('noted', async () => {
    const { pause } = await breakerOf(place);
    return pause?.status === status;
  });
}

const countOf = (text: string, part: string): number => text.split(part).length - 1;

/** Opens the breaker with the calls of a plan, and ends the fault. */
async function openBreaker(place: Place): Promise<void> {
  await faults(place, { status5xx: { share: 1, status: 403 } });
  while (!(await breakerOf(place)).open) await place.commands.run('plan', '--deadline', '3s');
  await faults(place, {});
}

const close = (place: Place): Promise<void> => place.stop();
const test = createScenarios(() => openPlace({}), close);
const testOfTwo = createScenarios(() => openPlace({ rest }), close);

for (const [status, words] of [
  [
    401,
    'refuses the key \\(401\\) since TIME: set a new targets\\.main\\.token, and restart the service unless it takes the token over from its file',
  ],
  [403, 'answers 403; no call has succeeded since TIME\\. Check it with scim-bridge doctor'],
] as const)
  test(`the platform answers ${status} before any first call succeeded → plan says so and what to do`, async (place) => {
    await faults(place, { status5xx: { share: 1, status } });
    const says = new RegExp(`The target main ${words.replace('TIME', TIME)}, then repeat the command\\.`);
    const plan = await place.commands.run('plan');
    expect([plan.code, plan.text]).toEqual([1, expect.stringMatching(says)]);
    expect(plan.text).not.toMatch(/no changes are known|was not read whole/);
    await place.stopApps();
    expect(await place.commands.run('plan')).toMatchObject({ code: 1, text: expect.stringMatching(says) });
  }, 60_000);

test('the platform works again and nothing is to be written → a probe of a worker closes the open breaker', async (place) => {
  await place.idp.createUser(BOB);
  await eventually('pushed', async () => (await breakerOf(place)).open === false);
  await openBreaker(place);
  await eventually('closed', async () => !(await breakerOf(place)).open, 20_000);
}, 60_000);

for (const [name, ...words] of [['doctor'], ['explain', BOB]] as [string, ...string[]][])
  test(`the platform works again and nothing is to be written → successful calls of ${name} close the open breaker`, async (place) => {
    await place.idp.createUser(BOB);
    await place.idle();
    await place.stopApps();
    await openBreaker(place);
    const { text } = await place.commands.run(name, ...words);
    expect(text).not.toMatch(/only probes go out|could not be read now/);
    await eventually('closed', async () => !(await breakerOf(place)).open, 3000);
  }, 60_000);

testOfTwo(
  'the platform refuses the key (401) → status, explain, plan and sync give the time since when, ask for a new token and end in time',
  async (place) => {
    await pushInto(place, { status5xx: { share: 1, status: 401 } }, 401);
    const since = new Date((await breakerOf(place)).since).toISOString();
    const refusal = `refuses the key (401) since ${since}`;
    const [status, explain] = [
      await place.commands.run('status'),
      await place.commands.run('explain', BOB, '--all'),
    ];
    expect(status.text).toContain(`the platform ${refusal}: set a new targets.main.token`);
    expect(explain.text).toContain(`waits because main ${refusal}: set a new targets.main.token`);
    const [present] = explain.text.split('Timeline:');
    expect(present).not.toMatch(/nobody has to do anything|tried again/);

    const sync = await timed(place, 'sync', BOB, '--timeout', '3');
    expect(sync.ms).toBeLessThan(15_000);
    const plan = await timed(place, 'plan');
    expect(plan).toMatchObject({ code: 1 });
    expect(plan.ms).toBeLessThan(MOST_MS);
    expect(countOf(plan.text, `The target main ${refusal}: set a new targets.main.token`)).toBe(1);
    expect(plan.text).not.toMatch(/rate limit|does not answer/);
  },
  90_000,
);

testOfTwo(
  'web pages follow unanswered calls and keep the breaker open → status, explain and doctor name the web pages, and status the time of the last success',
  async (place) => {
    const id = await place.idp.createUser(BOB);
    await place.idle();
    await faults(place, { dropBefore: { share: 1 } });
    await place.idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
    await eventually('open', async () => (await breakerOf(place)).open, 30_000);
    await faults(place, { htmlAnswer: { share: 1 } });
    await eventually('web pages arrive', async () => (await breakerOf(place)).status === 200, 20_000);
    // Within this time several probes are sent, and each gets a web page.
    await sleep(5000);
    const [status, explain, doctor] = await Promise.all([
      place.commands.run('status'),
      place.commands.run('explain', BOB),
      place.commands.run('doctor'),
    ]);
    expect(status.text).toMatch(
      /the platform answers with web pages \(a wrong url, or a proxy\); no call has succeeded since .*: only probes are sent; check targets.main.url, or a proxy/,
    );
    expect(explain.text).toContain('main answers with web pages (a wrong url, or a proxy)');
    expect(explain.text).not.toContain('nobody has to do anything');
    expect(doctor.text).toMatch(/answers every address below http\S+ with a web page/);
    expect(doctor.text).toContain('Check targets.main.url, and any proxy before the platform.');
    expect(doctor.text).not.toContain('Switch SCIM on');
    await faults(place, {});
    await eventually('closed', async () => !(await breakerOf(place)).open, 20_000);
    await place.idle();
    expect(await place.platform.user(BOB)).toMatchObject({ active: false });
  },
  90_000,
);

testOfTwo(
  'the platform accepts the key again after a 401 → doctor closes the breaker, and plan does not report a refused key',
  async (place) => {
    await pushInto(place, { status5xx: { share: 1, status: 401 } }, 401);
    await faults(place, {});
    await place.commands.run('doctor');
    const { resumedAt: _resumedAt, ...breaker } = await breakerOf(place);
    expect(breaker).toEqual({ open: false });
    const plan = await timed(place, 'plan');
    expect([0, 2]).toContain(plan.code);
    expect(plan.text).not.toContain('refuses the key');
  },
  60_000,
);

testOfTwo(
  'a process still uses a former key that is refused → commands with the new key ask for a restart, not for another key',
  async (place) => {
    const { main } = place.settings.targets;
    // The same key as scimToken makes another pair of keys, which the platform accepts too.
    const renewed = createCommands({
      ...place.settings,
      targets: { main: { ...main, scimToken: main.token } },
    });
    try {
      await pushInto(place, { status5xx: { share: 1, status: 401 } }, 401);
      const [status, explain] = [await renewed.run('status'), await renewed.run('explain', BOB, '--all')];
      const says = new RegExp(
        `refuses the key \\(401\\) of a process of the service \\(not the key of these settings\\) since ${TIME}: a process takes a key over from its file and tries it within 20 s; if this is still said then, restart the service`,
        'i',
      );
      for (const { text } of [status, explain]) {
        expect(text).toMatch(says);
        expect(text).not.toContain('set a new targets.main.token');
      }
      await faults(place, {});
      let doctor = await renewed.run('doctor');
      // On a slow machine a probe of the service may end the refusal before doctor reads it.
      for (let more = 1; doctor.code === 0 && more <= 3; more++) {
        await pushInto(place, { status5xx: { share: 1, status: 401 } }, 401, `more${more}@acme.example`);
        await faults(place, {});
        doctor = await renewed.run('doctor');
      }
      expect(doctor).toMatchObject({ code: 1, text: expect.stringContaining('the key is valid') });
      expect(doctor.text).toContain('(not the key of these settings) since');
      expect(doctor.text).toContain('still said then, restart the service, unless it was restarted since');
    } finally {
      renewed.remove();
    }
  },
  90_000,
);

testOfTwo(
  'calls pause after a 429 → status and explain say until when, and all commands end in time',
  async (place) => {
    await pushInto(place, { status429: { share: 1, retryAfter: 60 } }, 429);
    const until = new Date((await breakerOf(place)).pause.until).toISOString();
    const pause = `all calls pause until ${until}, because the platform asked for it (HTTP 429)`;
    const [status, explain] = [
      await place.commands.run('status'),
      await place.commands.run('explain', BOB, '--all'),
    ];
    expect(status.text).toContain(`  ${pause}`);
    expect(explain.text).toContain(pause);
    expect(explain.text).not.toMatch(/worker is at it|has failed|nobody/);

    const sync = await timed(place, 'sync', BOB, '--timeout', '3');
    expect(sync).toMatchObject({ code: 2, text: expect.stringContaining(pause) });
    expect(sync.ms).toBeLessThan(15_000);
    const plan = await timed(place, 'plan');
    expect(plan).toMatchObject({ code: 1 });
    expect(plan.ms).toBeLessThan(MOST_MS);
    expect(countOf(plan.text, `waits for the rate limit of the platform: ${pause}`)).toBe(1);
    expect(countOf(plan.text, `The target main answers 429: ${pause}`)).toBe(1);
  },
  90_000,
);

testOfTwo(
  'calls pause for 5 s after a 429 → plan waits for the end of the pause, and then reads the platform',
  async (place) => {
    await pushInto(place, { status429: { share: 1, retryAfter: 5 } }, 429);
    await faults(place, {});
    await sleep(500);
    const plan = await timed(place, 'plan');
    expect([0, 2]).toContain(plan.code);
    expect(plan.text).not.toContain('main answers');
  },
  60_000,
);

test('one of two targets cannot be read → plan names both targets, and says which one was not read', async (place) => {
  await place.change(({ connections, targets }) => {
    Object.assign(connections, { default: { tokens, targets: ['main', 'away'] } });
    Object.assign(targets, { away: { ...targets.main, url: 'http://127.0.0.1:9' } });
  });
  const { text, code } = await place.commands.run('plan');
  expect(code).toBe(1);
  expect(text).toContain('The plan is partial: it has default → main, and not default → away.');
  expect(text).toMatch(new RegExp(`The target away does not answer; no call has succeeded since ${TIME}`));
}, 60_000);

test('the creation of an account fails → explain shows no applied values', async (place) => {
  await faults(place, {
    rules: [{ method: 'POST', path: '/scim/v2/Users', status5xx: { share: 1, status: 503 } }],
  });
  await place.idp.createUser(BOB);
  await eventually('refused', async () =>
    (await place.platform.requests()).some(({ status }) => status === 503),
  );
  const { json } = await place.commands.run('explain', BOB, '--json');
  const [{ values }] = Array.isArray(json) ? json : [json];
  expect(values.map(({ name, applied, state }: any) => [name, applied, state])).toEqual(
    values.map(({ name }: any) => [name, null, 'differs']),
  );
  expect(values.length).toBeGreaterThan(2);
}, 60_000);
