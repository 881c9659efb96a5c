// Tests mapping rules that fail for people: the first run makes them dead letters, and rules that work again end these.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const NAMES = ['ann@acme.example', 'bob@acme.example', 'carl@acme.example'];
const LEVEL = { type: 'number', expression: '$number(title)' };
const FAILS = { type: 'number', expression: 'displayName' };

let place: Place;
const ids: string[] = [];
beforeAll(async () => {
  place = await openPlace({ target: { attributes: { level: LEVEL } } });
  for (const name of NAMES) ids.push(await place.idp.createUser(name, { title: '3' }));
  await place.idle();
});
afterAll(() => place.stop());

const status = async () => (await place.commands.run('status', '--json')).json[0];
const outputOf = async (...args: string[]): Promise<string> => (await place.commands.run(...args)).text;
const deadLetters = async () => (await place.commands.run('dead-letters', 'list', '--json')).text;

/** Changes the attributes, and waits for the reconcile that the restart begins. */
async function withAttributes(attributes: object, rest: object = {}): Promise<void> {
  const before = (await status()).reconcile.last?.startedAt;
  await place.change((settings) => {
    Object.assign(settings, rest);
    settings.targets.main.attributes = attributes;
  });
  await eventually('reconciled', async () => (await status()).reconcile.last?.startedAt !== before);
  await place.idle();
}

test('mapping of some people fails under onDrift: report → these people stay in plan, and status says that the rules changed', async () => {
  await withAttributes({ level: FAILS }, { reconcile: { schedule: null, onDrift: 'report' } });
  const { blocked, reconcile } = await status();
  expect(blocked).toBe(0);
  expect(reconcile.last).toMatchObject({
    outcome: 'blocked',
    message: '3 conflicts need a person: see scim-bridge plan',
  });
  expect(await outputOf('status')).toContain('in the settings changed');
  const { text } = await place.commands.run('plan');
  for (const name of NAMES) expect(text).toContain(name);
});

test('mapping of some people fails under onDrift: repair → reconcile makes these people dead letters, and leaves their accounts unchanged', async () => {
  await withAttributes({ level: FAILS }, { reconcile: { schedule: null, onDrift: 'repair' } });
  expect((await status()).blocked).toBe(3);
  const { reconcile } = await status();
  expect(reconcile.last).toMatchObject({
    outcome: 'blocked',
    message: '3 dead letters: see scim-bridge dead-letters list',
  });
  expect(await outputOf('status')).not.toContain('in the settings changed');
  const { text, code } = await place.commands.run('reconcile');
  expect(text).toContain('3 dead letters');
  expect(code).not.toBe(0);
  for (const name of NAMES) {
    expect(await deadLetters()).toContain(name);
    expect(await place.platform.user(name)).toMatchObject({ active: true, attributes: { level: 3 } });
  }
});

test('the mapping of a person fails → a deactivation at the source still closes the account', async () => {
  await place.idp.patch(`/Users/${ids[2]}`, { op: 'replace', path: 'active', value: false });
  await eventually('closed', async () => (await place.platform.user(NAMES[2] ?? ''))?.active === false);
  await place.idle();
});

test('status shows the number of accounts of the last reconcile only until the number of links changes', async () => {
  expect((await status()).coverage.users).toMatchObject({ linked: 0, seen: 0 });
  await place.idp.patch(`/Users/${ids[0]}`, { op: 'replace', path: 'displayName', value: '3' });
  await place.idle();
  expect((await status()).coverage.users).toMatchObject({ linked: 1, seen: null });
  expect(await outputOf('status')).toContain('people: 3 in all: 1 linked, 2 dead letters, 0 missing');
});

test('the mapping is corrected → the first reconcile retries the dead letters of the failed mapping', async () => {
  await withAttributes({ level: LEVEL });
  expect(await outputOf('dead-letters', 'list')).toBe('No dead letters.');
  expect((await status()).reconcile.last).toMatchObject({ outcome: 'converged' });
  expect(await outputOf('status')).toContain('3 linked (3 shown by the platform at the last reconcile)');
});
