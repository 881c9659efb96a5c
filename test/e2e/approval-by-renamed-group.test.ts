// Tests that an approval of a group is about the name that the settings of its own target give.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const NONE = { count: 0, percent: 100 };

let place: Place;
beforeAll(async () => {
  place = await openPlace({ target: { guard: { removeMembers: NONE } } });
  await place.change(({ targets, connections }) => {
    const rename = [{ match: '^Sales$', to: 'crew' }];
    Object.assign(targets, { renaming: { ...targets.main, groups: { rename } } });
    for (const each of Object.values(connections ?? {}) as { targets: string[] }[])
      each.targets = ['main', 'renaming'];
  });
  const ann = await place.idp.createUser('ann@acme.example');
  const group = await place.idp.createGroup('Sales', [ann]);
  await place.idle();
  await place.idp.patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${ann}"]` });
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

test('`approvals approve --group` with a group name of another target answers that no such group is known, and approves nothing', async () => {
  const { json } = await place.commands.run('approvals', 'list', '--json');
  const { id } = json.find(({ target }: { target: string }) => target === 'main');
  const answer = await place.commands.run('approvals', 'approve', id, '--group', 'crew', '--yes');
  expect(answer.text).toContain('No group is known as crew');
  await place.idle();
  expect((await place.platform.group('Sales'))?.members).toEqual(['ann@acme.example']);
}, 60_000);
