// Tests sync, its dry run and explain of people whose removal from a group waits for a decision of the guard.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const IDA = 'ida@acme.example';

let place: Place;
let approval: string;
beforeAll(async () => {
  place = await openPlace({ target: { guard: { removeMembers: { count: 0, percent: 0 } } } });
  const { idp } = place;
  const [ann, bob, ida] = [
    await idp.createUser(ANN),
    await idp.createUser('bob@acme.example'),
    await idp.createUser(IDA),
  ];
  const north = await idp.createGroup('north', [ann, bob]);
  const south = await idp.createGroup('south', [bob, ida]);
  await place.idle();
  await idp.patch(`/Users/${ida}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  await idp.patch(`/Groups/${north}`, { op: 'remove', path: `members[value eq "${ann}"]` });
  // The removal of Bob is held with the deletion; the account of Ida is closed, so her removal is not listed.
  await idp.send('DELETE', `/Groups/${south}`);
  await place.idle();
  approval = (await place.commands.run('approvals', 'list', '--json')).json[0].id;
}, 60_000);
afterAll(() => place.stop());

const run = async (...words: string[]): Promise<[code: number, text: string]> => {
  const { code, text } = await place.commands.run(...words);
  return [code, text.replaceAll(/\s+/g, ' ')];
};

test.each([
  [ANN, 'north'],
  [IDA, 'south'],
])('sync of %s exits 2 and names the approval that holds the removal from %s', async (person, group) => {
  expect(await run('sync', person)).toEqual([
    2,
    expect.stringContaining(
      `held: the guard holds the removal from 1 group: ${group}: scim-bridge approvals show ${approval}`,
    ),
  ]);
  expect((await place.platform.user(person))?.groups).toContain(group);
});

test('sync --dry-run of an inactive person in a group whose deletion is held lists the removal as held and not written, and explain asks for a decision', async () => {
  const [code, text] = await run('sync', IDA, '--dry-run');
  expect(text).toContain(`differs and is not written: removeMember ${IDA} in south (held by the guard`);
  expect([code, text]).toEqual([0, expect.not.stringContaining('would write:')]);
  const [, explained] = await run('explain', IDA, '--all');
  expect(explained).toContain('a person has to approve or reject it');
  expect(explained).not.toContain('brings it');
});

test('after the approval of held removals the persons are out of their groups at the platform, and sync exits 0', async () => {
  await place.commands.run('approvals', 'approve', approval, '--yes');
  await place.idle();
  for (const person of [ANN, IDA]) {
    expect(await run('sync', person)).toEqual([0, expect.stringContaining('equal already')]);
    expect((await place.platform.user(person))?.groups).toEqual([]);
  }
});
