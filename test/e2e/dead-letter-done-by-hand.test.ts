// Tests a dead letter whose refused change somebody then made at the platform.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';

let place: Place;
beforeEach(async () => {
  place = await openPlace({});
  const ann = await place.idp.createUser(ANN);
  await place.idle();
  const path = `/Users/${(await place.platform.user(ANN))?.scimId ?? ''}`;
  const refusal = { method: 'PATCH', path, status5xx: { share: 1, status: 400 } };
  await place.platform.control('PATCH', '/faults', { rules: [refusal] });
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'displayName', value: 'Ann New' });
  await place.idle();
  await place.platform.control('PATCH', '/faults', {});
  expect((await explained()).verdict).toBe('needsPerson');
  await byHand(place, 'PATCH', path, { op: 'replace', path: 'displayName', value: 'Ann New' });
}, 60_000);
afterEach(() => place.stop());

const explained = async (): Promise<any> =>
  (await place.commands.run('explain', ANN, '--json')).json?.[0] ?? {};

test('somebody makes the refused change of a dead letter by hand → explain calls the person as desired but still a dead letter, and the next reconcile removes the dead letter', async () => {
  const done = await explained();
  expect(done).toMatchObject({ verdict: 'asDesired', platform: { state: 'equal' } });
  expect(done.deadLetterSince).not.toBeNull();
  expect(done.summary).toContain(`${ANN} is at main as desired`);
  expect(done.reasons.join()).toMatch(
    /It is still a dead letter: the platform refused its change.* takes it off the list, but not while the target is on hold\./,
  );
  expect((await place.commands.run('plan')).text).toContain(
    'a dead letter: the platform refused its change, and has it by now',
  );
  expect((await place.commands.run('plan')).text).toContain('but not while the target is on hold');
  expect((await place.commands.run('reconcile', '--yes')).code).toBe(0);
  expect((await place.commands.run('dead-letters', 'list')).text).toBe('No dead letters.');
  expect((await place.commands.run('status')).code).toBe(0);
  expect(await explained()).toMatchObject({ verdict: 'asDesired', deadLetterSince: null, condition: null });
}, 60_000);

test('the platform has another value than the dead letter wants → explain says that a person has to act', async () => {
  const path = `/Users/${(await place.platform.user(ANN))?.scimId ?? ''}`;
  await byHand(place, 'PATCH', path, { op: 'replace', path: 'displayName', value: 'Ann Other' });
  expect(await explained()).toMatchObject({ verdict: 'needsPerson', platform: null });
  expect((await place.commands.run('reconcile', '--yes')).code).toBe(1);
  expect(await explained()).toMatchObject({ verdict: 'needsPerson', platform: null });
}, 60_000);
