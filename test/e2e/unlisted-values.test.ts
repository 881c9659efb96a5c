// Tests what commands tell of lists, and what a reconcile does with them, where more people are stored than a run reads the truth
// values and lists of: after a change by hand, and after somebody deleted the definition of such an attribute with all its values.
import '../support/load-modules.ts';
import { send } from '../support/send.ts';
import { openPlace, type Place } from '../support/situation.ts';

/** More people than a run reads values of. */
const PEOPLE = 130;
const ANN = 'ann@acme.example';
const ADVICE = 'the definition of levels was deleted there, with all values';

const LEVELS = { type: 'number_array', expression: '[$number(title)]' };
const TEAM = { type: 'string', from: 'nickName' };

let place: Place;
let ann = '';
beforeAll(async () => {
  place = await openPlace({
    target: { attributes: { levels: LEVELS, team: TEAM } },
  });
  const { idp } = place;
  ann = await idp.createUser(ANN, { title: '1', nickName: 'sales' });
  for (let first = 1; first < PEOPLE; first += 10)
    await Promise.all(
      Array.from({ length: Math.min(10, PEOPLE - first) }, (_, index) =>
        idp.createUser(`p${first + index}@acme.example`, { title: '1', nickName: 'sales' }),
      ),
    );
  await place.idle();
}, 120_000);
afterAll(() => place.stop());

const asAdmin = (method: string, path: string, body?: object) => {
  const { platformUrl, fixtures } = place.sandbox.ready;
  const headers = {
    authorization: `Bearer ${fixtures.apiKeys.admin}`,
    'content-type': 'application/json',
  };
  return send(platformUrl, method, path, { headers, body });
};

async function deleteDefinition(wanted: string): Promise<void> {
  const { body } = await asAdmin('GET', '/api/v1/user-attributes');
  const { id } = body.items.find(({ name }: { name: string }) => name === wanted);
  await asAdmin('DELETE', `/api/v1/user-attributes/${id}`);
}

/** Runs a command. @returns its exit code, and its text as one line */
async function run(...args: string[]): Promise<{ code: number; text: string }> {
  const { code, text } = await place.commands.run(...args);
  return { code, text: text.replaceAll(/\s+/g, ' ') };
}

/** Returns the number of people who have no value of the attribute at the platform. */
async function countLost(attribute: string): Promise<number> {
  const { users } = await place.platform.state();
  const people = users.filter(({ externalId }) => externalId?.startsWith('ext-'));
  expect(people).toHaveLength(PEOPLE);
  return people.filter(({ attributes }) => attributes[attribute] === undefined).length;
}

test('after a first load of people with list values the next run reads the values of 100 people only', async () => {
  const { code, text } = await run('plan');
  expect(code).toBe(0);
  expect(text).toContain(`Truth values and lists were read of 100 of ${PEOPLE} users`);
  expect((await run('status')).code).toBe(0);
}, 30_000);

test('somebody changes a list value by hand → explain names sync and reconcile --full as immediate repair, and each repairs it', async () => {
  const { id: account, scimId } = (await place.platform.user(ANN)) ?? {};
  expect(scimId).toBeDefined();
  const { body } = await asAdmin('GET', '/api/v1/user-attributes');
  const levels = body.items.find(({ name }: { name: string }) => name === 'levels');
  for (const repair of [
    ['sync', `User:${ann}`],
    ['reconcile', '--full', '--yes'],
  ]) {
    const value = { userId: String(account), userAttributeId: String(levels.id), value: [9] };
    expect((await asAdmin('POST', '/api/v1/user-attribute-values', value)).status).toBeLessThan(300);
    expect((await run('explain', ANN)).text).toContain(
      `scim-bridge sync User:${ann} at once, or a reconcile that repairs, as soon as it reads the truth values and lists of this person (with --full at once), brings it`,
    );
    expect((await run(...repair)).code).toBe(0);
    expect((await place.platform.user(ANN))?.attributes.levels).toEqual([1]);
  }
}, 60_000);

test('the definition of a list is deleted → doctor and plan report it, one reconcile writes the values of all people, and the next run reads 100 again', async () => {
  await deleteDefinition('levels');
  const doctor = await run('doctor');
  expect(doctor.text).toContain(ADVICE);
  expect(doctor.text).toContain('scim-bridge reconcile writes the values of all people again');
  const plan = await run('plan');
  expect(plan.text).toContain(`1 attribute definition to create, ${PEOPLE} attributes to set`);
  expect(await run('reconcile', '--yes')).toMatchObject({
    code: 0,
    text: expect.stringContaining('converged'),
  });
  expect(await countLost('levels')).toBe(0);
  expect((await run('status')).code).toBe(0);
  expect((await run('doctor')).text).not.toContain('levels');
  expect((await run('plan')).text).toContain(`Truth values and lists were read of 100 of ${PEOPLE} users`);
}, 60_000);

test('a push recreates the deleted definition of a list → status, doctor and plan report lost values until a reconcile has written all', async () => {
  await deleteDefinition('levels');
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'title', value: '2' });
  await place.idle();
  expect(await countLost('levels')).toBe(PEOPLE - 1);
  const status = await run('status');
  expect(status).toMatchObject({
    code: 2,
    text: expect.stringContaining('definition of levels was deleted'),
  });
  const doctor = await run('doctor');
  expect(doctor.text).toContain('the definition of levels was deleted there and made again');
  const plan = await run('plan');
  expect(plan.text).toContain(`${PEOPLE - 1} attributes to set`);
  expect(plan.text).not.toContain('write did not stick');
  expect((await run('reconcile', '--yes')).code).toBe(0);
  expect(await countLost('levels')).toBe(0);
  expect((await run('status')).code).toBe(0);
  expect((await run('doctor')).text).not.toContain('levels');
}, 60_000);

test('an operator deletes and recreates the definition of a list by hand → a reconcile writes the values of all people', async () => {
  await deleteDefinition('levels');
  await asAdmin('POST', '/api/v1/user-attributes', { name: 'levels', type: 'number_array' });
  expect((await run('doctor')).text).toContain('the definition of levels was deleted there and made again');
  expect((await run('reconcile', '--yes')).code).toBe(0);
  expect(await countLost('levels')).toBe(0);
  expect((await run('plan')).text).toContain(`Truth values and lists were read of 100 of ${PEOPLE} users`);
}, 60_000);

test('a list with lost values leaves the mapping → status reports no loss until the list is mapped again, and then a reconcile writes all values', async () => {
  await deleteDefinition('levels');
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'title', value: '3' });
  await place.idle();
  expect((await run('status')).text).toContain('definition of levels was deleted');
  await place.change(({ targets }) => {
    targets.main.attributes = { team: TEAM };
  });
  expect((await run('reconcile', '--yes')).code).toBe(0);
  const without = await run('status');
  expect(without.code).toBe(0);
  expect(without.text).not.toContain('definition of levels');
  await place.change(({ targets }) => {
    targets.main.attributes = { levels: LEVELS, team: TEAM };
  });
  expect((await run('status')).text).toContain('definition of levels was deleted');
  expect((await run('reconcile', '--yes')).code).toBe(0);
  expect(await countLost('levels')).toBe(0);
  expect((await run('status')).code).toBe(0);
}, 90_000);

test('people join while a reconcile writes the lost values of a list → status reports no loss after this run', async () => {
  await deleteDefinition('levels');
  await asAdmin('POST', '/api/v1/user-attributes', { name: 'levels', type: 'number_array' });
  let isRunning = true;
  const reconcile = run('reconcile', '--yes').finally(() => (isRunning = false));
  for (let joiner = 0; isRunning; joiner++)
    await place.idp.createUser(`joiner${joiner}@acme.example`, { title: '1', nickName: 'sales' });
  expect((await reconcile).code).toBe(0);
  await place.idle();
  expect((await run('status')).code).toBe(0);
  const { users } = await place.platform.state();
  const people = users.filter(({ externalId }) => externalId?.startsWith('ext-'));
  expect(people.length).toBeGreaterThan(PEOPLE);
  for (const { attributes } of people) expect(attributes.levels).toBeDefined();
}, 60_000);
