// Tests the mapping workbench of the admin API with a mapping that is not in the settings: values, faults, limits, and the
// effect on all users.
import { openReconciling, type Reconciling } from '../../support/reconciling.ts';
import { ADMIN_TOKEN } from '../../support/build-bridge.ts';
import { openAdmin, type AdminRig } from './rig.ts';

const ADA = 'ada.lovelace@acme.example';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
let rig: AdminRig;
let hands: Reconciling;
let id: string;

const attempt = (attributes: object, resource = ADA, target = 'main') =>
  rig.operator.post('/workbench/try', { target, resource, attributes });
const effectOf = (attributes: object, target = 'main') =>
  rig.operator.post('/workbench/effect', { target, attributes });
const linkText = async (): Promise<string> =>
  JSON.stringify(await hands.scopes[0]?.scope.links.get('main', `User:${id}`));

beforeAll(async () => {
  rig = await openAdmin({
    configure: ({ targets }) => {
      const { main } = targets;
      if (!main) return;
      main.attributes = { region: { type: 'string', from: 'title', onEmpty: 'clear' } };
      targets.unfed = { ...main, name: 'unfed' };
    },
  });
  hands = await openReconciling(rig.bridge);
  id = await rig.bridge.idp.createUser(ADA, { title: 'north', userType: '7' });
  await rig.bridge.idp.createUser('grace@acme.example', { title: 'south' });
  await rig.bridge.idp.createUser('مريم@acme.example', { userType: 'eleven' });
  await rig.bridge.idp.createGroup('analysts', [id]);
  await rig.untilSynced();
}, 60_000);
afterAll(async () => {
  await hands.stop();
  await rig.bridge.stop();
});

test('a trial of mapping rules on one user returns desired and applied values, the resource and its groups; it calls no platform and changes no link', async () => {
  const before = await linkText();
  await rig.bridge.platform.forgetRequests();
  const { status, body } = await attempt({
    region: { type: 'string', expression: '$uppercase(title)' },
    level: { type: 'number', from: 'userType' },
    teams: { type: 'string_array', expression: 'groups[0].display' },
    division: { type: 'string', from: `${ENTERPRISE}:division`, onEmpty: 'keep' },
    cleared: { type: 'string', from: 'nickName' },
    unfit: { type: 'number', from: 'title' },
  });
  expect([status, body.faults, body.inScope, body.triedOnSamples]).toEqual([200, [], true, true]);
  const brief = body.values.map(({ name, outcome, desired, applied }: any) => [
    ...[name, outcome, desired, applied],
  ]);
  expect(brief).toEqual([
    ['region', 'value', 'NORTH', 'north'],
    ['level', 'value', 7, null],
    ['teams', 'value', ['analysts'], null],
    ['division', 'keep', null, null],
    ['cleared', 'clear', null, null],
    ['unfit', 'fault', null, null],
  ]);
  expect(body.values[5].fault).toContain('cannot become a number');
  expect(body).toMatchObject({ connection: 'default', target: 'main', ref: `User:${id}`, name: ADA });
  expect(body.resource).toMatchObject({ id, userName: ADA, groups: [{ display: 'analysts' }] });
  await effectOf({ region: { type: 'string', expression: '$uppercase(title)' } });
  expect(await rig.bridge.platform.requests()).toEqual([]);
  expect(await linkText()).toBe(before);
  expect(rig.bridge.logs.filter((line) => line.includes('lovelace'))).toEqual([]);
});

test("the effect of mapping rules on a target without a connection is returned with the target's name and 0 compared users", async () => {
  const { status, body } = await effectOf({ region: { type: 'string', from: 'title' } }, 'unfed');
  expect([status, body]).toMatchObject([200, { target: 'unfed', compared: 0, total: 0, isWhole: true }]);
});

test('a trial of mapping rules with seven faulty attributes returns a message with advice for each fault, and still maps the correct attribute', async () => {
  const { status, body } = await attempt({
    region: { type: 'string', from: 'title' },
    colour: { type: 'colour', from: 'title' },
    wrongPath: { type: 'string', from: 'titel[' },
    broken: { type: 'string', expression: '$uppercase(' },
    both: { type: 'string', from: 'title', expression: 'title' },
    'not a name': { type: 'string', from: 'title' },
    typo: { type: 'string', form: 'title' },
    lookAhead: { type: 'string', expression: '$match(title, /a(?=b)/)' },
  });
  expect([status, body.values.map(({ name }: any) => name)]).toEqual([200, ['region']]);
  const messages = new Map(body.faults.map(({ path, message }: any) => [path, message]));
  expect(messages.get('/colour/type')).toContain('number_array');
  expect(messages.get('/wrongPath/from')).toContain('Write a SCIM path');
  expect(messages.get('/broken/expression')).toContain('Write a JSONata expression');
  expect(messages.get('/both')).toContain('exactly one of from and expression');
  expect(messages.get('/not a name')).toContain('name cannot be used');
  expect(messages.get('/typo/form')).toContain('not known');
  expect(messages.get('/lookAhead/expression')).toContain('RE2');
});

test('a trial of mapping rules with an endless rule or a huge regular expression reports a fault, and the process keeps running', async () => {
  const hiddenPattern = '$eval("$match(title, /(x{1000}){" & "60}/)")';
  const startedAt = Date.now();
  const { status, body } = await attempt({
    endless: { type: 'string', expression: '($f := function($n) { $f($n + 1) }; $f(1))' },
    huge: { type: 'string', expression: `$match(title, /${'x{1000}'.repeat(1000)}/)` },
    hidden: { type: 'string', expression: hiddenPattern },
    region: { type: 'string', from: 'title' },
  });
  expect(Date.now() - startedAt).toBeLessThan(20_000);
  expect(status).toBe(200);
  const { endless, hidden, region } = Object.fromEntries(
    body.values.map((value: any) => [value.name, value]),
  );
  expect(endless.fault).toMatch(/longer than 50 ms|levels deep/);
  expect(hidden.fault).toContain('regular expressions of more than 50000 steps');
  expect(region.desired).toBe('north');
  const paths = body.faults.map(({ path }: any) => path);
  expect(paths).toContain('/huge/expression');
  expect((await rig.raw('/readyz')).status).toBe(200);
}, 40_000);

test('a trial of mapping rules on all users returns counts of changed, removed and failed values, with examples', async () => {
  const { status, body } = await effectOf({
    level: { type: 'number', from: 'userType' },
    region: { type: 'string', expression: 'title = "north" ? null : (title ? title & "!" : null)' },
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({ compared: 3, leftOut: 0, total: 3, isWhole: true, affected: 3, faults: [] });
  expect(body.attributes).toEqual([
    { name: 'level', changed: 1, emptied: 0, faulty: 1 },
    { name: 'region', changed: 1, emptied: 1, faulty: 0 },
  ]);
  const brief = body.examples.map(({ name, attribute, old, new: desired }: any) => [
    ...[name.split('@')[0], attribute, old, desired],
  ]);
  expect(brief).toEqual([
    ['ada.lovelace', 'level', null, 7],
    ['ada.lovelace', 'region', 'north', null],
    ['grace', 'region', 'south', 'south!'],
    ['مريم', 'level', null, null],
  ]);
  const same = await effectOf({ region: { type: 'string', from: 'title' } });
  expect(same.body).toMatchObject({ affected: 0, examples: [], noLongerMapped: [] });
  const none = await effectOf({});
  expect(none.body).toMatchObject({ affected: 0, attributes: [], noLongerMapped: ['region'] });
});

test('a second concurrent trial of mapping rules on all users answers 429, and the first ends when its client disconnects', async () => {
  const attributes = Object.fromEntries(
    Array.from({ length: 150 }, (_, at) => [
      `endless${at}`,
      { type: 'string', expression: `($f := function($n) { $f($n + ${at + 1}) }; $f(1))` },
    ]),
  );
  const left = new AbortController();
  const first = rig
    .raw('/admin/v1/workbench/effect', {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ target: 'main', attributes }),
      signal: left.signal,
    })
    .catch(() => undefined);
  let second = await effectOf({});
  for (let tries = 0; second.status === 200 && tries < 50; tries++) second = await effectOf({});
  expect([second.status, second.headers['retry-after']]).toEqual([429, '2']);
  left.abort();
  await first;
  // The first request would take 30 seconds (150 endless rules for three people), so a 200 within 8 s shows that it ended.
  const until = Date.now() + 8000;
  let third = await effectOf({});
  while (third.status === 429 && Date.now() < until) third = await effectOf({});
  expect(third.status).toBe(200);
}, 60_000);

test('a trial of mapping rules answers 404 for an unknown person, group or target, and 400 beyond the size limits', async () => {
  const rules = { region: { type: 'string', from: 'title' } };
  const unknown = await attempt(rules, 'stranger@acme.example');
  expect([unknown.status, unknown.text.includes('stranger')]).toEqual([404, false]);
  expect((await attempt(rules, 'analysts')).status).toBe(404);
  expect((await attempt(rules, ADA, 'nowhere')).status).toBe(404);
  expect((await effectOf(rules, 'nowhere')).status).toBe(404);
  const long = { region: { type: 'string', expression: `"${'x'.repeat(70_000)}"` } };
  expect((await attempt(long)).status).toBe(400);
  const many = Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`a${at}`, rules.region]));
  expect((await effectOf(many)).status).toBe(400);
});
