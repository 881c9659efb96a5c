// Tests what the commands say after somebody deleted the definition of an attribute and made it again with another type.
import '../support/load-modules.ts';
import { remakeDefinition } from '../support/by-hand.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const CONFLICT = 'level is string at the platform and number in the mapping';

let place: Place;
beforeAll(async () => {
  place = await openPlace({ target: { attributes: { level: { type: 'number', from: 'title' } } } });
  await place.idp.createUser(ANN, { title: '3' });
  await place.idle();
  await remakeDefinition(place, 'level', 'string');
}, 60_000);
afterAll(() => place.stop());

const run = (...args: string[]) => place.commands.run(...args);

test('an attribute definition is recreated with another type → plan, reconcile, explain and verify-access name the conflict, and doctor promises no repair', async () => {
  const doctor = await run('doctor');
  expect(doctor.text).toContain(
    'attribute level is string there and number in the mapping: the definition was deleted there with all values, and made again with this type',
  );
  expect(doctor.text).not.toContain('writes the values that are lost');
  for (let round = 0; round < 2; round++) {
    const plan = await run('plan');
    expect([plan.code, plan.text]).toEqual([0, expect.stringContaining(CONFLICT)]);
    expect(plan.text).not.toContain('The platform is as desired');
    const reconcile = await run('reconcile', '--yes');
    expect([reconcile.code, reconcile.text]).toEqual([1, expect.stringContaining(CONFLICT)]);
    expect(reconcile.text).not.toContain('converged');
    await place.idle();
  }
  expect((await run('status')).code).not.toBe(0);
  expect((await run('explain', ANN, '--all')).text).toContain(CONFLICT);
  const { text } = await run('verify-access', ANN);
  expect(text).toContain(`attributes.level: attribute ${CONFLICT}`);
  expect(text).not.toContain('no reason is stored');
}, 60_000);
