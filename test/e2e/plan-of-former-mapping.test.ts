// Tests that a plan lists a dead letter of a value as a conflict only if the present mapping still has the fault.
import '../support/load-modules.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const BOB = 'bob@acme.example';
const CONFLICT = '1 conflict needs a person';

let place: Place;
beforeAll(async () => {
  place = await openPlace({
    target: { attributes: { level: { type: 'number', from: 'title' } } },
    rest: { reconcile: { schedule: null, onDrift: 'report' } },
  });
  await place.idp.createUser(BOB, { title: 'high' });
  await place.idle();
}, 30_000);
afterAll(() => place.stop());

const { told } = commandsAt(() => place);
const mapTo = (attributes: object): Promise<void> =>
  place.change(({ targets: { main } }) => {
    main.attributes = attributes;
  });

test('the mapping changes but keeps a faulty rule → plan lists the conflict of the person once', async () => {
  await mapTo({ level: { type: 'number', from: 'title' }, rank: { type: 'string', from: 'title' } });
  const plan = await told('plan');
  expect(plan).toContain(`${CONFLICT}: scim-bridge explain NAME tells what to do User ${BOB}: conflict`);
  expect(plan.split('level is string and cannot become a number')).toHaveLength(2);
}, 30_000);

test('a faulty mapping rule is removed → plan lists the activation that waited for it and no conflict, and reconcile activates the account', async () => {
  await mapTo({});
  const plan = await told('plan');
  expect(plan).toContain(`1 change. 1 to activate.`);
  expect(plan).not.toContain('conflict');
  await place.commands.run('reconcile', '--yes');
  await place.idle();
  expect((await place.platform.user(BOB))?.active).toBe(true);
  expect(await told('dead-letters', 'list')).not.toContain(BOB);
}, 30_000);
