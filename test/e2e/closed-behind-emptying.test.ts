// Tests an account that is closed by hand while the guard holds the emptying of a value of the person.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { openPlace, type Place } from '../support/situation.ts';

const WIM = 'wim@acme.example';

let place: Place;
beforeAll(async () => {
  place = await openPlace({
    target: {
      guard: { clearAttributes: { count: 0, percent: 0 } },
      attributes: { country: { type: 'string', from: 'title' } },
    },
  });
}, 60_000);
afterAll(() => place.stop());

test('the clearing of a value is held and the account is closed by hand → plan announces no activation, and the account is activated once the clearing is approved', async () => {
  const { idp, commands, platform } = place;
  const wim = await idp.createUser(WIM, { title: 'DE' });
  await place.idle();
  await idp.patch(`/Users/${wim}`, { op: 'replace', path: 'title', value: '' });
  await place.idle();
  const { scimId = '' } = (await platform.user(WIM)) ?? {};
  await byHand(place, 'PATCH', `/Users/${scimId}`, { op: 'replace', path: 'active', value: false });
  for (let run = 0; run < 2; run++) {
    const plan = await commands.run('plan', '--full', '--all');
    expect([plan.code, plan.text]).toEqual([0, expect.stringContaining('nothing to write')]);
    expect((await commands.run('reconcile', '--full', '--yes')).text).toContain('held');
    await place.idle();
    expect((await platform.user(WIM))?.active).toBe(false);
  }
  const [{ id }] = (await commands.run('approvals', 'list', '--json')).json;
  await commands.run('approvals', 'approve', id, '--yes');
  await place.idle();
  expect(await platform.user(WIM)).toMatchObject({ active: true, attributes: {} });
}, 60_000);
