// Tests a person whose removal from a group the platform refuses: values and new memberships of the person wait until a
// person acts about the group, and the commands name this group.
import { join } from 'node:path';
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const MEG = 'meg@acme.example';
const JOE = 'joe@acme.example';
const WAITS =
  'waits for the removal of the person from another group, which needs a person: scim-bridge explain of this person names the group';
const ONE_WAITS =
  '1 person waits for the removal from a group that needs a person: scim-bridge explain of the person names the group';

let place: Place;
let meg: string;
let old: string;
let next: string;
let kept: string;
beforeAll(async () => {
  place = await openPlace({
    target: {
      attributes: {
        country: { type: 'string', from: 'addresses[type eq "work"].country', onEmpty: 'keep' },
        level: { type: 'number', expression: '$number(title)', onEmpty: 'keep' },
      },
    },
  });
  const { idp } = place;
  meg = await idp.createUser(MEG, { title: '1', addresses: [{ type: 'work', country: 'DE' }] });
  const joe = await idp.createUser(JOE, { title: '1' });
  old = await idp.createGroup('Old', [meg, joe]);
  next = await idp.createGroup('New');
  kept = await idp.createGroup('Kept', [meg]);
  await place.idle();
  // The group Kept is a dead letter because of another member; the person is in it as desired.
  await refuse('Old', 'Kept');
  const ben = await idp.createUser('ben@acme.example');
  await idp.patch(`/Groups/${kept}`, { op: 'add', path: 'members', value: [{ value: ben }] });
  await place.idle();
  const leaving = [meg, joe].map((id) => ({ op: 'remove', path: `members[value eq "${id}"]` }));
  await idp.patch(`/Groups/${old}`, ...leaving);
  await idp.patch(`/Groups/${next}`, { op: 'add', path: 'members', value: [{ value: meg }] });
  await idp.patch(
    `/Users/${meg}`,
    { op: 'replace', path: 'title', value: '3' },
    { op: 'replace', path: 'addresses', value: [{ type: 'work', country: 'US' }] },
  );
  // The bridge is not idle: the mark of the person stays until the group is written.
  await untilBehindGroup();
}, 60_000);
afterAll(() => place.stop());

/** Lets the platform answer changes of these groups with 400. */
async function refuse(...names: string[]): Promise<void> {
  const rules = await Promise.all(
    names.map(async (name) => ({
      method: 'PATCH',
      path: `/Groups/${(await place.platform.group(name))?.scimId ?? ''}`,
      status5xx: { share: 1, status: 400 },
    })),
  );
  await place.platform.control('PATCH', '/faults', { rules });
}

const { outcome } = commandsAt(() => place);

const untilBehindGroup = (): Promise<unknown> =>
  eventually('the person waits for the refused group', async () => {
    const [{ mark }] = (await place.commands.run('explain', MEG, '--json')).json;
    return mark?.state === 'due' && mark.priority === null;
  });

test('the platform refuses the removal of a person from a group → explain of the person, and of the group that the person joins, names the former group', async () => {
  const [person] = (await place.commands.run('explain', MEG, '--json')).json;
  expect(person).toMatchObject({ verdict: 'needsPerson', summary: expect.stringContaining('group Old:') });
  const said = [person.summary, ...person.reasons].join(' ');
  expect(said).not.toMatch(/on its way|nobody has to do anything/);
  // No value is wrong: the platform refused to remove a member.
  expect(said).toMatch(
    new RegExp(
      `The group Old needs a person .*: Refused: .*Ask the operator of the platform why this change of the group's members is refused, then scim-bridge sync Group:${old}`,
    ),
  );
  expect(said).not.toContain('Correct the value');
  const [joined] = (await place.commands.run('explain', 'New', '--json')).json;
  expect(joined).toMatchObject({
    verdict: 'needsPerson',
    summary: expect.stringMatching(
      new RegExp(`member ${MEG}: the removal from another group.*scim-bridge explain User:${meg} names`),
    ),
  });
});

test('the platform refuses the removal of a person from a group → plan and sync --dry-run list the values and memberships of the person as waiting', async () => {
  const [code, plan] = await outcome('plan', '--all');
  expect(plan).toContain(WAITS);
  expect(plan).not.toMatch(/\d changes?\b|to add|to set/);
  expect(code).toBe(0);
  for (const name of [MEG, 'New']) {
    const [dryCode, text] = await outcome('sync', name, '--dry-run');
    expect(text).toContain(WAITS);
    expect(text).not.toMatch(/would write|waits for the sync of the member/);
    expect([name, dryCode]).toEqual([name, 0]);
  }
});

test('the platform refuses the removal of a person from a group → sync of the person exits 2 and names this group', async () => {
  expect(await outcome('sync', MEG)).toEqual([
    2,
    expect.stringContaining(
      `waiting: 1 membership is not written, because its group needs a person: Old; scim-bridge explain Group:${old} tells what to do`,
    ),
  ]);
  expect(await outcome('sync', 'New')).toEqual([
    2,
    expect.stringContaining(
      `waiting: 1 membership not written, because of changes of the same people that wait for a group that needs a person, which scim-bridge explain of each of them names: ${MEG}`,
    ),
  ]);
  await untilBehindGroup();
}, 60_000);

test('the platform refuses the removal of a person from a group → status counts this person as left alone, and neither as a dead letter nor as `not applied yet`', async () => {
  const [, text] = await outcome('status');
  expect(text).toContain(
    '0 not applied yet, 2 dead letters people: 3 in all: 2 linked, 1 left alone, 0 missing',
  );
});

test('the platform refuses the removal of a person from a group → verify-access names this group, and no other refused group', async () => {
  const [, text] = await outcome('verify-access', MEG);
  expect(text).toMatch(
    new RegExp(
      `the removal from Old is not written: the group Old needs a person .*scim-bridge explain Group:${old}`,
    ),
  );
  expect(text).not.toContain('the group Kept');
});

test('the platform refuses the removal of a person from a group → reconcile writes nothing, exits 1 and counts the dead letters and the people who wait', async () => {
  await place.platform.forgetRequests();
  const [code, text] = await outcome('reconcile', '--yes', '--deadline', '20s');
  expect(text).toContain(`2 dead letters: see scim-bridge dead-letters list; ${ONE_WAITS}`);
  expect(code).toBe(1);
  expect((await outcome('status'))[1]).toMatch(/last reconcile \S+: blocked, 2 dead letters/);
  expect(await place.platform.writes()).toEqual([]);
}, 60_000);

test('a value that waits for a refused removal is changed by hand → reconcile and apply do not wait for it, and apply names the removal', async () => {
  const path = `/Users/${(await place.platform.user(JOE))?.scimId ?? ''}`;
  await byHand(place, 'PATCH', path, {
    op: 'replace',
    path: 'urn:cube:params:1.0:UserAttribute:level',
    value: 7,
  });
  const file = join(place.commands.folder, 'plan.json');
  await outcome('plan', '--out', file);
  const [code, text] = await outcome('apply', file, '--yes');
  expect(text).toContain(ONE_WAITS);
  expect(code).toBe(1);
  expect((await outcome('reconcile', '--yes', '--deadline', '20s'))[0]).toBe(1);
  await untilBehindGroup();
}, 60_000);

test('the dead letter of a group that a person cannot leave is dropped → sync of the person does not try the group again, and plan and explain still name it', async () => {
  await outcome('dead-letters', 'drop', `Group:${old}`);
  await outcome('sync', MEG);
  await untilBehindGroup();
  expect((await outcome('dead-letters', 'list'))[1]).not.toContain('Old');
  expect((await outcome('plan', '--all'))[1]).toContain(WAITS);
  const [{ verdict, summary }] = (await place.commands.run('explain', MEG, '--json')).json;
  expect([verdict, summary]).toEqual(['needsPerson', expect.stringContaining('group Old:')]);
}, 60_000);

test('all dead letters are dropped, and people still wait for a refused removal → reconcile exits 1 and counts them, and status counts no dead letter', async () => {
  await outcome('dead-letters', 'drop', `Group:${kept}`);
  expect((await outcome('dead-letters', 'list'))[1]).toContain('No dead letters');
  const [code, text] = await outcome('reconcile', '--yes', '--deadline', '20s');
  expect(text).toContain(
    '2 people wait for the removal from a group that needs a person: scim-bridge explain of the person names the group',
  );
  expect(text).not.toContain('converged');
  expect(code).toBe(1);
  // Later runs take what is older than this time as written.
  const runs = await place.key('reconcile:main');
  const [convergedAt, endedAt] = await place.redis.hmget(runs, 'convergedAt', 'lastSuccessAt');
  expect([convergedAt, endedAt]).toEqual([endedAt, expect.any(String)]);
  const status = (await outcome('status'))[1];
  expect(status).toMatch(/0 dead letters people: 3 in all: 1 linked \(.*?\), 2 left alone, 0 missing/);
  expect(status).toContain('blocked, 1 change by others found, 2 people wait for the removal from a group');
}, 60_000);

test("the platform accepts a refused removal again → sync of the group writes it, and then the person's values and new membership are written", async () => {
  await place.platform.control('PATCH', '/faults', { rules: [] });
  await outcome('sync', `Group:${old}`);
  await place.idle();
  expect(await place.platform.user(MEG)).toMatchObject({
    active: true,
    attributes: { country: 'US', level: 3 },
    groups: expect.arrayContaining(['New', 'Kept']),
  });
  expect((await place.platform.user(JOE))?.attributes.level).toBe(1);
  expect((await place.platform.group('Old'))?.members).toEqual([]);
}, 60_000);

test("the dead letter of a group that a person cannot leave is dropped and the policy becomes upsert-only → reconcile writes the person's value, and the membership stays", async () => {
  const { idp } = place;
  await refuse('New');
  await idp.patch(`/Groups/${next}`, { op: 'remove', path: `members[value eq "${meg}"]` });
  await idp.patch(`/Users/${meg}`, { op: 'replace', path: 'title', value: '5' });
  await untilBehindGroup();
  await outcome('dead-letters', 'drop', `Group:${next}`);
  await place.change(({ targets }) => {
    for (const target of Object.values(targets)) target.policy = 'upsert-only';
  });
  await outcome('reconcile', '--yes', '--deadline', '20s');
  await eventually(
    'the value is written',
    async () => (await place.platform.user(MEG))?.attributes.level === 5,
  );
  expect((await place.platform.user(MEG))?.groups).toContain('New');
}, 60_000);
