// Tests a platform whose answers about users lack `active`, or that refuses the read of one account: the bridge takes neither for
// a confirmation.
import '../support/load-modules.ts';
import { commandsAt } from '../support/commands-at.ts';
import { eventually } from '../support/eventually.ts';
import { startFront, type Front } from '../support/front.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';

let place: Place;
let front: Front;
beforeEach(async () => {
  place = await openPlace({});
  front = await startFront();
  front.platformUrl = place.sandbox.ready.platformUrl;
  await place.change(({ targets: { main } }) => {
    main.url = front.url;
  });
});
afterEach(async () => {
  await place.stop();
  front.stop();
});

/** Leaves `active` out of every answer about users. */
const hideActive = (): void => {
  front.edit = (_method, url, body) =>
    url.includes('/scim/v2/Users') ? body.replace(/,"active":(true|false)/g, '') : body;
};
const setActive = async (name: string, value: boolean): Promise<void> => {
  const { scimId } = (await place.platform.user(name)) ?? {};
  const { ready } = place.sandbox;
  const answer = await fetch(`${ready.platformUrl}/api/scim/v2/Users/${scimId ?? ''}`, {
    method: 'PATCH',
    headers: {
      authorization: `Bearer ${ready.fixtures.apiKeys.admin}`,
      'content-type': 'application/scim+json',
    },
    body: JSON.stringify({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path: 'active', value }],
    }),
  });
  expect(answer.status).toBe(200);
};

test('the platform leaves `active` out of its answers → new accounts are activated, leavers closed, and verify-access and plan say that the state could not be read', async () => {
  const bob = await place.idp.createUser(BOB);
  await place.idle();
  hideActive();
  await place.idp.createUser(ANN);
  await place.idp.patch(`/Users/${bob}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  expect((await place.platform.user(ANN))?.active).toBe(true);
  expect((await place.platform.user(BOB))?.active).toBe(false);
  await setActive(ANN, false);
  const look = await place.commands.run('verify-access', ANN);
  expect(look.text).toContain('without a readable `active`');
  expect(look.text).not.toContain('read back: active');
  expect(look.code).toBe(1);
  const plan = await place.commands.run('plan');
  expect(plan.text).toContain('2 resources could not be read');
  // An answer that shows the state again is compared with the source.
  front.edit = (_method, _url, body) => body;
  await place.commands.run('reconcile', '--yes');
  await place.idle();
  expect((await place.platform.user(ANN))?.active).toBe(true);
  expect((await place.platform.user(BOB))?.active).toBe(false);
}, 60_000);

test('the platform fails to show an account → plan, reconcile and status name it with the answer, and explain says that its state is unknown', async () => {
  const ann = await place.idp.createUser(ANN);
  await place.idle();
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  await setActive(ANN, true);
  const { scimId = '' } = (await place.platform.user(ANN)) ?? {};
  front.answer = (method, url) =>
    method === 'GET' && url.endsWith(`/Users/${scimId}`)
      ? { status: 403, headers: { 'content-type': 'application/json' }, body: '{"detail":"not yours"}' }
      : undefined;
  const why = 'GET /api/scim/v2/Users/{id} answered 403: not yours';
  const plan = await place.commands.run('plan');
  expect(plan.text).toContain(`${ANN} (User:${ann}): ${why}`);
  await place.commands.run('reconcile', '--yes');
  expect((await place.commands.run('status')).text).toContain(`1 resource could not be read (${ANN})`);
  const { text } = await place.commands.run('explain', ANN);
  expect(text).toContain(`? The state of ${ANN} is not known: main could not be read now.`);
  expect(text).toContain(why);
  expect(text).not.toContain('✔');
  for (const flags of [['--dry-run'], []]) {
    const sync = await place.commands.run('sync', ANN, ...flags);
    expect(sync.code).toBe(1);
    expect(sync.text).toContain(`The target main answers other calls and not this one: ${why}.`);
    expect(sync.text).not.toContain('doctor');
  }
  front.answer = () => undefined;
  await place.commands.run('reconcile', '--yes');
  await place.idle();
  expect((await place.platform.user(ANN))?.active).toBe(false);
}, 60_000);

test('the platform does not show an account yet → explain of its person does not claim that another person has the name', async () => {
  front.answer = (method, url) =>
    method === 'POST' && url.endsWith('/scim/v2/Users')
      ? { status: 409, headers: { 'content-type': 'application/json' }, body: '{"detail":"taken"}' }
      : undefined;
  await place.idp.createUser(ANN);
  const text = await eventually('the sync waits for the name', async () => {
    const page = (await place.commands.run('explain', ANN, '--all')).text;
    return page.includes('the userName or the account') ? page : undefined;
  });
  expect(text).toContain('is to give it up, or what has it is not shown there yet');
  expect(text).not.toContain('Another person still has');
}, 60_000);

const answerPatch = (status: number, retryAfter: string): void => {
  front.answer = (method) =>
    method === 'PATCH'
      ? { status, headers: { 'content-type': 'application/json', 'retry-after': retryAfter }, body: '{}' }
      : undefined;
};
const rename = async (id: string): Promise<void> => {
  await place.idp.patch(`/Users/${id}`, { op: 'replace', path: 'displayName', value: 'Ann Two' });
};

test('a 503 has a Retry-After above 1 h → status shows the requested and the actual pause, doctor names the pause, and plan exits 1 without mentioning a rate limit', async () => {
  const ann = await place.idp.createUser(ANN);
  await place.idle();
  answerPatch(503, '999999999');
  await rename(ann);
  await eventually('status tells the pause', async () =>
    (await place.commands.run('status')).text.includes(
      'because the platform asked for a wait of 277777 h (HTTP 503), and the bridge tries again after 1 h at most',
    ),
  );
  expect((await place.commands.run('doctor')).text).toMatch(
    /! target main: all calls pause until .* asked for a wait/,
  );
  const plan = await place.commands.run('plan');
  expect(plan.code).toBe(1);
  expect(plan.text).toContain('waits for the platform: all calls pause');
  expect(plan.text).toContain('ask how long the maintenance of the platform lasts');
  expect(plan.text).not.toMatch(/rate.?limit/i);
}, 60_000);

test('an endpoint answers 429 without Retry-After → explain names this answer', async () => {
  const ann = await place.idp.createUser(ANN);
  await place.idle();
  answerPatch(429, '0');
  await rename(ann);
  await eventually('explain names it', async () => {
    const { text } = await place.commands.run('explain', ANN, '--all');
    return /failed \d+ times? in a row; .* The last failure: PATCH \S+ answered 429/.test(text);
  });
}, 60_000);

test('sync times out before the platform answers → sync says that the next attempt is due, and names no time', async () => {
  await place.idp.createUser(ANN);
  await place.idle();
  await place.platform.control('PATCH', '/faults', { latencyMs: 2000 });
  const sync = await place.commands.run('sync', ANN, '--timeout', '0.5');
  expect(sync.text).toContain('waiting: its next attempt is due');
  expect(sync.text).not.toContain('tried again at');
}, 60_000);

test.each([
  ['{}', 'application/json'],
  ['<html><body>portal</body></html>', 'text/html'],
])(
  'the platform answers the deactivation of two people with 200 and %s but does not carry it out → explain says since when it fails, reconcile exits 1, and status and reconcile name both people',
  async (body, type) => {
    const ids = [await place.idp.createUser(ANN), await place.idp.createUser(BOB)];
    await place.idle();
    front.answer = (method) =>
      method === 'PATCH' ? { status: 200, headers: { 'content-type': type }, body } : undefined;
    for (const id of ids)
      await place.idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
    const { told } = commandsAt(() => place);
    const both =
      /2 changes fail since \S+Z: (ann@acme.example, bob|bob@acme.example, ann)@acme.example; the first: PATCH \S+ answered/;
    await eventually('status names both', async () => both.test(await told('status')), 60_000);
    const explained = await told('explain', ANN);
    expect(explained).toMatch(/fails since \S+Z and does not arrive at main: PATCH \S+ answered/);
    expect(explained).not.toContain('nobody has to do anything');
    const { code, text } = await place.commands.run('reconcile', '--yes', '--deadline', '60s');
    expect(text.replaceAll(/\s+/g, ' ')).toMatch(
      /2 changes not applied yet, tried again and again: \S+, \S+; the first: PATCH/,
    );
    expect(code).toBe(1);
    front.answer = () => undefined;
    await eventually('closed', async () => (await place.platform.user(ANN))?.active === false, 60_000);
    await place.idle();
    expect(await told('status')).not.toContain('fail since');
  },
  240_000,
);

test('the answer to a POST has no id, and the account is found again → its log entry names only values that were sent', async () => {
  await place.change(({ targets: { main } }) => {
    main.attributes = {
      vip: { type: 'boolean', from: 'urn:cube:params:1.0:UserAttribute:vip' },
      country: { type: 'string', from: 'addresses[type eq "work"].country' },
    };
  });
  let isFirst = true;
  front.edit = (method, url, body) => {
    if (method !== 'POST' || !url.endsWith('/scim/v2/Users') || !isFirst) return body;
    isFirst = false;
    return '{}';
  };
  await place.idp.createUser(ANN, { addresses: [{ type: 'work', country: 'PT' }] });
  await place.idle();
  const { text } = await place.commands.run('log', '--resource', ANN);
  expect(text).toContain('it was there when the bridge looked again');
  expect(text).toContain('"PT"');
  expect(text).not.toContain('vip');
}, 60_000);

test('the platform answers the creation of an account with 503 again and again → status, doctor and reconcile name the person by userName, and status the time of the first failure', async () => {
  const unavailable = { status: 503, headers: { 'content-type': 'application/json' }, body: '{}' };
  let firstAt = Number.NaN;
  front.answer = (method, url) => {
    if (method !== 'POST' || !url.endsWith('/Users')) return undefined;
    if (Number.isNaN(firstAt)) firstAt = Date.now();
    return unavailable;
  };
  await place.idp.createUser(ANN);
  const { told } = commandsAt(() => place);
  const named = /1 change fails since (\S+Z): ann@acme\.example, POST \S+ answered 503/;
  const status = await eventually(
    'status names Ann',
    async () => named.exec(await told('status')) ?? undefined,
    60_000,
  );
  // Earlier than the second attempt, which follows about a second later.
  expect(Date.parse(String(status[1])) - firstAt).toBeLessThan(800);
  expect(await told('doctor')).toMatch(named);
  expect(await told('reconcile', '--yes', '--deadline', '60s')).toMatch(
    /1 change not applied yet, tried again and again: ann@acme\.example, POST/,
  );
}, 150_000);
