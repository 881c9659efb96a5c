// Tests a held deactivation, and one that follows, after the limit of the guard has grown.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const NAMES = ['ann', 'bob', 'cid', 'dan'].map((name) => `${name}@acme.example`);

let place: Place;
let ids: string[];
beforeAll(async () => {
  place = await openPlace({ target: { guard: { deactivate: { count: 1, percent: 100 } } } });
  ids = [];
  for (const name of NAMES) ids.push(await place.idp.createUser(name));
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

async function deactivate(index: number): Promise<void> {
  await place.idp.patch(`/Users/${ids[index] ?? ''}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
}
const areActive = () =>
  Promise.all(NAMES.map(async (name) => (await place.platform.user(name))?.active === true));
const shown = async (): Promise<string> => {
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  return (await place.commands.run('approvals', 'show', id)).text;
};
const FITS =
  'all of these fit the limit now: what is held still waits for a decision or the expiry, and further changes that fit are written';

test('the guard limit is raised → a new deactivation is written, an already held one still waits, and approvals show explains why', async () => {
  await deactivate(0);
  await deactivate(1);
  await deactivate(2);
  expect(await areActive()).toEqual([false, true, true, true]);
  expect(await shown()).not.toContain(FITS);
  await place.change(({ targets: { main } }) => {
    main.guard = { deactivate: { count: 4, percent: 100 } };
  });
  await deactivate(3);
  expect(await areActive()).toEqual([false, true, true, false]);
  expect(await shown()).toContain(FITS);
}, 60_000);
