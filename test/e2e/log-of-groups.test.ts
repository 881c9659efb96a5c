// Tests what the log and explain tell about the groups that the bridge makes and deletes, and about their members.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';

let place: Place;
let ann: string;
let tiny: string;
beforeAll(async () => {
  place = await openPlace({ target: { timeoutMs: 2000 } });
  ann = await place.idp.createUser(ANN);
  tiny = await place.idp.createGroup('tiny', [ann]);
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

/** Returns the operations in the log about a person or group, oldest first. */
async function operationsOf(name: string): Promise<string[]> {
  const { lines } = await place.commands.run('log', '--resource', name, '--json');
  return lines
    .map((line) => JSON.parse(line) as { operation: string; sourceIdentity: { displayName: string } })
    .map(({ operation, sourceIdentity }) => `${sourceIdentity.displayName} ${operation}`)
    .reverse();
}

test('a group that the bridge made is logged as created and not as adopted', async () => {
  expect(await operationsOf('tiny')).toEqual(['tiny create', 'tiny addMembers']);
  const { text } = await place.commands.run('explain', 'tiny', '--all');
  expect(text).not.toContain('taken over');
});

test.each([
  ['user', 'bob@acme.example', () => place.idp.createUser('bob@acme.example')],
  ['group', 'late', () => place.idp.createGroup('late', [])],
])(
  'the create of a %s gets no answer → its log entry says created, not adopted',
  async (kind, name, create) => {
    const path = `/scim/v2/${kind === 'user' ? 'Users' : 'Groups'}$`;
    const lost = { method: 'POST', path, times: 1, timeoutAfterCommit: { share: 1 } };
    await place.platform.control('PATCH', '/faults', { rules: [lost] });
    await create();
    await place.idle();
    await place.platform.control('PATCH', '/faults', {});
    const { text } = await place.commands.run('log', '--resource', name);
    expect(text).toContain(`${name}  create  it was there when the bridge looked again`);
    expect(text).not.toContain('adopt');
  },
  60_000,
);

test('the deletion of a group is logged for each of its members', async () => {
  const others = await place.idp.createUser('eve@acme.example');
  const other = await place.idp.createGroup('other', [others]);
  await place.idle();
  await place.idp.send('DELETE', `/Groups/${tiny}`);
  await place.idle();
  expect((await place.platform.user(ANN))?.groups).toEqual([]);
  expect((await operationsOf(ANN)).filter((each) => each.startsWith('tiny'))).toEqual([
    'tiny addMembers',
    'tiny removeMembers',
  ]);
  expect(await operationsOf('eve@acme.example')).not.toContain('other removeMembers');
  const logged = await place.commands.run('log', '--resource', ANN);
  expect(logged.text).toContain(`tiny  removeMembers  1 member: ${ANN}; the group was deleted`);
  const { text } = await place.commands.run('explain', ANN, '--all');
  expect(text).toContain('taken out of the group tiny');
  // After a lost answer, too.
  const lost = { method: 'DELETE', path: '/scim/v2/Groups', times: 1, timeoutAfterCommit: { share: 1 } };
  await place.platform.control('PATCH', '/faults', { rules: [lost] });
  await place.idp.send('DELETE', `/Groups/${other}`);
  await place.idle();
  await place.platform.control('PATCH', '/faults', {});
  expect(await operationsOf('eve@acme.example')).toContain('other removeMembers');
}, 60_000);

test('the platform fails the write of a pushed change → the timeline of explain shows the push on one line only', async () => {
  const rules = [{ method: 'PATCH', path: '/scim/v2/Users', status5xx: { share: 1, status: 503 }, times: 2 }];
  await place.platform.control('PATCH', '/faults', { rules });
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'displayName', value: 'Ann' });
  const accepted = await eventually('the first attempt has failed', async () => {
    const { json } = await place.commands.run('explain', ANN, '--json');
    const { timeline, mark } = json[0];
    if (!mark || !timeline.some(({ text }: { text: string }) => text.includes('tried again')))
      return undefined;
    return timeline.filter(({ text }: { text: string }) => text.includes(mark.request));
  });
  expect(accepted).toEqual([
    expect.objectContaining({ event: 'accepted', text: expect.stringContaining('not applied yet') }),
  ]);
  await place.platform.control('PATCH', '/faults', {});
  await place.idle();
}, 60_000);
