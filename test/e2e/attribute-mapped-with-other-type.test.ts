// Tests what the commands say after an operator gave a mapped attribute another type in the settings. Its definition at the platform stays
// as it was. Also tests how many value lists a run reads while no value of the attribute can be written.
import '../support/load-modules.ts';
import { remakeDefinition } from '../support/by-hand.ts';
import { openPlace, type Place } from '../support/situation.ts';

/** More people than a run reads values of. */
const PEOPLE = 104;
const LEVELS = { type: 'number_array', expression: '[$number(title)]' };
const TEXTS = { type: 'string_array', expression: '[title]' };
const CONFLICT = 'levels is number_array at the platform and string_array in the mapping';
const IN_TURN = `Truth values and lists were read of 100 of ${PEOPLE} users`;

let place: Place;
beforeAll(async () => {
  place = await openPlace({ target: { attributes: { levels: LEVELS } } });
  for (let first = 0; first < PEOPLE; first += 8)
    await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        place.idp.createUser(`p${first + index}@acme.example`, { title: '1' }),
      ),
    );
  await place.idle();
}, 120_000);
afterAll(() => place.stop());

const map = (levels: object): Promise<void> =>
  place.change(({ targets }) => {
    targets.main.attributes = { levels };
  });

/** Runs a command. @returns its exit code, and its text as one line */
async function run(...args: string[]): Promise<{ code: number; text: string }> {
  const { code, text } = await place.commands.run(...args);
  return { code, text: text.replaceAll(/\s+/g, ' ') };
}

test('the mapping gives a list another type than its unchanged definition → plan, reconcile, status and doctor report no deletion, and each plan reads the values of 100 people', async () => {
  await map(TEXTS);
  for (let round = 0; round < 2; round++) {
    const plan = await run('plan');
    expect(plan.text).toContain(CONFLICT);
    expect(plan.text).toContain(IN_TURN);
    expect(plan.text).not.toContain('deleted');
    const reconcile = await run('reconcile', '--yes');
    expect(reconcile).toMatchObject({ code: 1, text: expect.stringContaining(CONFLICT) });
    await place.idle();
    expect((await run('status')).text).not.toContain('deleted');
    const doctor = await run('doctor');
    expect(doctor.text).toContain('attribute levels is number_array there and string_array in the mapping');
    expect(doctor.text).not.toContain('deleted');
  }
}, 90_000);

test('the mapping of a list returns to its former type → before any run doctor and status report no deletion, and plan says that the platform is as desired', async () => {
  await map(LEVELS);
  expect((await run('doctor')).text).not.toContain('levels was deleted');
  expect((await run('status')).text).not.toContain('deleted');
  const plan = await run('plan');
  expect(plan).toMatchObject({ code: 0, text: expect.stringContaining(IN_TURN) });
  expect(plan.text).toContain('The platform is as desired');
}, 60_000);

test('the definition of a list is recreated with another type → each plan reads the values of 100 people, and once the type is as mapped, one reconcile writes all values', async () => {
  await remakeDefinition(place, 'levels', 'string_array');
  for (let round = 0; round < 2; round++) {
    expect((await run('doctor')).text).toContain('deleted there with all values, and made again');
    expect((await run('plan')).text).toContain(IN_TURN);
    expect((await run('reconcile', '--yes')).code).toBe(1);
  }
  expect((await run('status')).text).toContain('definition of levels was deleted');
  await remakeDefinition(place, 'levels', 'number_array');
  expect((await run('reconcile', '--yes')).code).toBe(0);
  await place.idle();
  const { users } = await place.platform.state();
  const people = users.filter(({ externalId }) => externalId?.startsWith('ext-'));
  expect(people.map(({ attributes }) => attributes.levels)).toEqual(people.map(() => [1]));
  expect((await run('status')).text).not.toContain('deleted');
}, 90_000);
