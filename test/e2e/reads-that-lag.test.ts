// Tests a platform whose reads do not show the latest writes yet: nothing of it is called a change by others.
import '../support/load-modules.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const PEOPLE = ['ann', 'bob', 'cho'].map((name) => `${name}@acme.example`);

let place: Place;
afterEach(() => place.stop());

const { told } = commandsAt(() => place);

test('lists do not show new accounts and groups yet → plan and explain call these "gone, or not shown there yet", not changed at the platform', async () => {
  place = await openPlace({});
  await place.platform.control('PATCH', '/faults', { staleReadsMs: 30_000 });
  const ids: string[] = [];
  for (const name of PEOPLE) ids.push(await place.idp.createUser(name));
  await place.idp.createGroup('crew', ids);
  await place.idle();
  const planned = await told('plan');
  expect(planned).toContain(
    'its account is gone at the platform, or not shown there yet: the bridge wrote it at',
  );
  expect(planned).toContain(
    'the group is gone at the platform, or not shown there yet: the bridge wrote it at',
  );
  expect(planned).not.toContain('platform changed');
  expect(await told('explain', PEOPLE[0] ?? '')).toContain('or not shown there yet');
  await place.commands.run('reconcile', '--yes');
  expect(await told('status')).not.toContain('by others');
  const { users, groups } = await place.platform.state();
  expect(users.filter(({ userName }) => PEOPLE.includes(userName))).toHaveLength(PEOPLE.length);
  expect(groups.filter(({ displayName }) => displayName === 'crew')).toHaveLength(1);
}, 60_000);
