// Tests plan and sync --dry-run of a group or person that is a dead letter while the guard holds the removal of a member.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const [ANN, BOB, CID] = ['ann@acme.example', 'bob@acme.example', 'cid@acme.example'] as const;

let place: Place;
beforeAll(async () => {
  place = await openPlace({
    target: {
      guard: { removeMembers: { count: 0, percent: 0 } },
      attributes: { level: { type: 'number', from: 'title' } },
    },
  });
  const { idp, platform } = place;
  const [ann, bob, cid] = [await idp.createUser(ANN), await idp.createUser(BOB), await idp.createUser(CID)];
  const crew = await idp.createGroup('crew', [ann, bob]);
  await place.idle();
  await idp.patch(`/Groups/${crew}`, { op: 'remove', path: `members[value eq "${bob}"]` });
  await place.idle();
  const refuses = {
    method: 'PATCH',
    path: 'scim/v2/Groups',
    status5xx: { share: 1, status: 400 },
    times: 99,
  };
  await platform.control('PATCH', '/faults', { rules: [refuses] });
  await idp.patch(`/Groups/${crew}`, { op: 'add', path: 'members', value: [{ value: cid }] });
  await idp.patch(`/Groups/${crew}`, { op: 'replace', path: 'displayName', value: 'team' });
  await place.idle();
}, 30_000);
afterAll(() => place.stop());

test('plan lists a dead letter as conflict, the membership that waits for it, and a held removal as exception', async () => {
  const { code, text } = await place.commands.run('plan');
  expect(code).toBe(0);
  expect(text).toContain(
    'nothing to write, but the platform is not as desired: 1 exception and 2 differences',
  );
  expect(text).toContain('Group crew, to be team: conflict, Refused: Injected fault');
  expect(text).toContain(
    `Person ${CID} in team: addMember, member at the source; waits for the group, which needs a person`,
  );
  // The removal of BOB is told by the exception alone.
  expect(text).not.toContain(`Person ${BOB} in team`);
  expect(text).toMatch(/Group crew: held by the guard since .*the guard holds the removal of members/);
  const file = join(place.commands.folder, 'plan.json');
  await place.commands.run('plan', '--out', file);
  const removal = JSON.parse(readFileSync(file, 'utf8')).plans[0].entries.find(
    ({ action }: any) => action === 'removeMember',
  );
  expect(removal).toMatchObject({
    member: { name: BOB },
    effect: 'report',
    reason:
      'held by the guard until an operator decides or the approval expires: see scim-bridge approvals list',
  });
});

const dryRun = async (name: string): Promise<string> =>
  (await place.commands.run('sync', name, '--dry-run')).text.replaceAll(/\s+/g, ' ');

test('a group is a dead letter, and the removal of a member is held, then rejected → sync --dry-run of the member names the hold, then the rejection, as the reason, not the dead letter', async () => {
  const removal = `removeMember ${BOB} in team (`;
  expect(await dryRun(BOB)).toContain(
    `${removal}held by the guard until an operator decides or the approval expires`,
  );
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'reject', id, '--yes');
  await place.idle();
  expect(await dryRun(BOB)).toContain(`${removal}rejected by an operator, so it is not written`);
});

test('a person is a dead letter and has a held removal → sync --dry-run says that a new membership waits for both', async () => {
  const { idp, platform } = place;
  await platform.control('PATCH', '/faults', { rules: [] });
  const dan = await idp.createUser('dan@acme.example', { title: '3' });
  const [from, to] = [await idp.createGroup('from', [dan]), await idp.createGroup('to')];
  await place.idle();
  await idp.patch(`/Groups/${from}`, { op: 'remove', path: `members[value eq "${dan}"]` });
  await idp.patch(`/Groups/${to}`, { op: 'add', path: 'members', value: [{ value: dan }] });
  await place.idle();
  await idp.patch(`/Users/${dan}`, { op: 'replace', path: 'title', value: 'high' });
  await place.idle();
  const waits =
    'waits for the user, who needs a person, and for the held removal of the person from another group';
  expect(await dryRun('dan@acme.example')).toContain(
    `addMember dan@acme.example in to (member at the source; ${waits}`,
  );
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'approve', id, '--yes');
  await place.idle();
  expect((await platform.user('dan@acme.example'))?.groups).toEqual([]);
});
