// Tests what the guard counts after the emptying of an attribute was approved.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const NAMES = ['ann', 'bob'].map((name) => `${name}@acme.example`);
const [ANN = '', BOB = ''] = NAMES;

let place: Place;
afterAll(() => place.stop());

test('the clearing of an attribute is approved but not written yet → the guard still allows the deactivation of another person', async () => {
  place = await openPlace({
    target: {
      guard: { clearAttributes: { count: 0, percent: 0 }, deactivate: { count: 1, percent: 100 } },
      attributes: { country: { type: 'string', from: 'title' } },
    },
  });
  const { idp, commands, platform } = place;
  const ids = [];
  for (const name of NAMES) ids.push(await idp.createUser(name, { title: 'DE' }));
  await place.idle();
  await idp.patch(`/Users/${ids[0] ?? ''}`, { op: 'remove', path: 'title' });
  await place.idle();
  const [{ id }] = (await commands.run('approvals', 'list', '--json')).json;
  // The platform refuses the approved write for now, so it stays unwritten.
  const rule = { method: 'POST', path: '/user-attribute-values$', status5xx: true };
  await platform.control('PATCH', '/faults', { rules: [rule] });
  await commands.run('approvals', 'approve', id, '--yes');
  await idp.patch(`/Users/${ids[1] ?? ''}`, { op: 'replace', path: 'active', value: false });
  const state = async () => [
    (await platform.user(BOB))?.active,
    (await commands.run('approvals', 'list', '--json')).json,
  ];
  await eventually('the deactivation is decided', async () => {
    const [isActive, approvals] = await state();
    return isActive === false || approvals.length > 0;
  });
  expect((await platform.user(ANN))?.attributes).toMatchObject({ country: 'DE' });
  expect(await state()).toEqual([false, []]);
}, 60_000);
