// Tests two notes: plan on the value lists that --full reads, and explain on a group that is a member of another group.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

let place: Place;
beforeAll(async () => {
  place = await openPlace({
    target: {
      users: { protected: ['kept@acme.example'] },
      attributes: { contractor: { type: 'boolean', expression: 'userType = "Contractor"' } },
    },
  });
}, 60_000);
afterAll(() => place.stop());

test('people have no account at the platform → plan --full does not advise a repetition with --full', async () => {
  await place.idp.createUser('ann@acme.example');
  await place.idp.createUser('kept@acme.example');
  await place.idle();
  const { text } = await place.commands.run('plan', '--full');
  expect(text).not.toContain('--full reads all of them');
});

test('explain of a group that contains a group says that nested groups are not written', async () => {
  const inner = await place.idp.createGroup('region-us', []);
  await place.idp.createGroup('nested', [inner]);
  await place.idle();
  const { text } = await place.commands.run('explain', 'nested');
  expect(text).toContain('1 member is a group, and groups in groups are not written: region-us');
  expect(text).not.toContain('has not pushed');
});
