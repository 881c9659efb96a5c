// Tests lists and texts that the source empties: plan, sync --dry-run and the guard take each of them for a cleared value.
import '../support/load-modules.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const NONE = { count: 0, percent: 0 };
const IVY = 'ivy@acme.example';

let place: Place;
beforeAll(async () => {
  place = await openPlace({
    target: {
      guard: { clearAttributes: NONE },
      attributes: {
        regions: { type: 'string_array', expression: '[groups.display[$match($, /^region-/)]]' },
        country: { type: 'string', from: 'title' },
      },
    },
  });
  const { idp, commands } = place;
  const ivy = await idp.createUser(IVY, { title: 'DE' });
  const region = await idp.createGroup('region-eu', [ivy]);
  await place.idle();
  await commands.run('hold', '--by', 'olga');
  await idp.patch(`/Groups/${region}`, { op: 'remove', path: `members[value eq "${ivy}"]` });
  await idp.patch(`/Users/${ivy}`, { op: 'replace', path: 'title', value: '' });
}, 60_000);
afterAll(() => place.stop());

const { outcome } = commandsAt(() => place);
const values = async () => (await place.platform.user(IVY))?.attributes;

test('the source empties lists and texts → plan and sync --dry-run announce clearings that the guard is to hold', async () => {
  const [, plan] = await outcome('plan', '--all');
  expect(plan).toContain('2 attributes to clear');
  expect(plan).toContain('The guard is to hold 2 of them');
  const [, dryRun] = await outcome('sync', IVY, '--dry-run');
  for (const name of ['regions', 'country'])
    expect(dryRun).toMatch(new RegExp(`clearAttribute ${name} \\([^)]*to be held by the guard`));
  await place.commands.run('release', '--by', 'olga');
  await place.idle();
  expect(await values()).toMatchObject({ regions: ['region-eu'], country: 'DE' });
});

test('the clearing of emptied values is held, and then rejected → plan and sync --dry-run list no write', async () => {
  const [{ id, kinds }] = (await place.commands.run('approvals', 'list', '--json')).json;
  expect(kinds).toMatchObject({ clearAttributes: 2 });
  const nothing = async () => {
    expect(await outcome('plan')).toEqual([0, expect.stringContaining('nothing to write')]);
    expect(await outcome('sync', IVY, '--dry-run')).toEqual([
      0,
      expect.stringContaining('nothing would be written'),
    ]);
  };
  await nothing();
  await place.commands.run('approvals', 'reject', id, '--yes');
  await place.idle();
  await nothing();
  expect(await values()).toMatchObject({ regions: ['region-eu'], country: 'DE' });
}, 30_000);
