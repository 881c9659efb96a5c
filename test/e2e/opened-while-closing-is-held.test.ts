// Tests an account that the bridge had closed and somebody opened at the platform, while the guard holds the second closing.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ADA = 'ada@acme.example';

let place: Place;
let ada: string;
beforeEach(async () => {
  place = await openPlace({ target: { guard: { deactivate: { count: 0, percent: 0 } } } });
  ada = await place.idp.createUser(ADA);
  await place.idle();
  await change('active', false);
  await approve();
  expect((await place.platform.user(ADA))?.active).toBe(false);
  const scimId = (await place.platform.user(ADA))?.scimId ?? '';
  await byHand(place, 'PATCH', `/Users/${scimId}`, { op: 'replace', path: 'active', value: true });
  await place.commands.run('reconcile', '--yes', '--deadline', '20s');
  expect(await heldIds()).toHaveLength(1);
});
afterEach(() => place.stop());

const heldIds = async (): Promise<string[]> =>
  (await place.commands.run('approvals', 'list', '--json')).json.map(({ id }: { id: string }) => id);
const change = async (path: string, value: unknown): Promise<void> => {
  await place.idp.patch(`/Users/${ada}`, { op: 'replace', path, value });
  await place.idle();
};
const approve = async (): Promise<void> => {
  for (const id of await heldIds()) await place.commands.run('approvals', 'approve', id, '--yes');
  await place.idle();
};

test('the guard holds a deactivation during two pushes and two reconciles → it is still held, and status exits 2', async () => {
  await change('displayName', 'Ada One');
  await change('displayName', 'Ada Two');
  expect(await heldIds()).toHaveLength(1);
  for (let run = 0; run < 2; run++) await place.commands.run('reconcile', '--yes', '--deadline', '20s');
  expect(await heldIds()).toHaveLength(1);
  expect((await place.commands.run('status')).code).toBe(2);
}, 60_000);

test('a person with a held deactivation is pushed, and then the deactivation is approved → the account is closed', async () => {
  await change('displayName', 'Ada One');
  await approve();
  expect((await place.platform.user(ADA))?.active).toBe(false);
  expect((await place.commands.run('exceptions')).text).toContain('No exceptions.');
}, 60_000);
