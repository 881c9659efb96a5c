// Tests the name of an unmanaged member (an account without a pushed user) in approvals and in the log, while
// `groups.members: authoritative` removes the member from a group.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
/** An account that the sandbox has from the beginning. */
const VIEWER = 'viewer@acme.example';

let place: Place;
let approval: string;
let viewer: string;
beforeAll(async () => {
  place = await openPlace({
    target: {
      groups: { members: 'authoritative' },
      guard: { removeMembers: { count: 0, percent: 0 } },
    },
  });
  const [ann, bob] = [await place.idp.createUser(ANN), await place.idp.createUser('bob@acme.example')];
  const crew = await place.idp.createGroup('crew', [ann, bob]);
  await place.idle();
  viewer = (await place.platform.user(VIEWER))?.scimId ?? '';
  await byHand(place, 'PATCH', `/Groups/${(await place.platform.group('crew'))?.scimId}`, {
    op: 'add',
    path: 'members',
    value: [{ value: viewer }],
  });
  await place.idp.patch(`/Groups/${crew}`, { op: 'remove', path: `members[value eq "${bob}"]` });
  await place.commands.run('reconcile', '--yes');
  approval = (await place.commands.run('approvals', 'list', '--json')).json[0].id;
}, 60_000);
afterAll(() => place.stop());

const { outcome } = commandsAt(() => place);
const LEAVES = `${VIEWER} leaves crew: not a member of the group at the source`;

test('the removal of an unmanaged member is held → approvals show and explain name the account', async () => {
  const [code, text] = await outcome('approvals', 'show', approval);
  expect([code, text]).toEqual([0, expect.stringContaining(LEAVES)]);
  expect(text).toContain('bob@acme.example leaves crew: not a member of the group at the source');
  expect((await outcome('explain', 'crew'))[1]).toContain(`- ${VIEWER} (as above)`);
});

test.each(['viewer@acme.example', 'Viewer@ACME.example', 'the platform id'])(
  'approvals show --person with %s of an unmanaged member lists the removal of this account alone',
  async (name) => {
    const person = name === 'the platform id' ? viewer : name;
    const [code, text] = await outcome('approvals', 'show', approval, '--person', person);
    expect([code, text]).toEqual([0, expect.stringContaining(LEAVES)]);
    expect(text).not.toContain('bob@acme.example leaves');
  },
);

test('approvals show --person with a name that no account has exits 1', async () => {
  expect(await outcome('approvals', 'show', approval, '--person', 'nobody@acme.example')).toEqual([
    1,
    expect.stringContaining('No person is known as nobody@acme.example'),
  ]);
});

test("the removal of an unmanaged member is approved by the account's name → only this removal is written, and log names the account", async () => {
  const [code, text] = await outcome('approvals', 'approve', approval, '--person', VIEWER, '--yes');
  expect([code, text]).toEqual([0, expect.stringContaining('Approved: 1 of')]);
  await place.idle();
  expect((await place.platform.group('crew'))?.members).toEqual([ANN, 'bob@acme.example']);
  expect((await outcome('log'))[1]).toContain(`crew removeMembers 1 member: ${VIEWER}`);
}, 30_000);
