// Tests groups of which others deleted the account of a member at the platform.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';
import { send } from '../support/send.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';

let place: Place;
let ann: string;
beforeEach(async () => {
  place = await openPlace({ target: { adopt: 'report' } });
  ann = await place.idp.createUser(ANN);
  await place.idp.createGroup('crew', [ann, await place.idp.createUser(BOB)]);
  await place.idle();
  // No worker of the service takes part, so each write is one of the command.
  await place.stopApps();
  await byHand(place, 'DELETE', `/Users/${(await place.platform.user(ANN))?.scimId}`);
}, 30_000);
afterEach(() => place.stop());

const { outcome } = commandsAt(() => place);
const members = async () => (await place.platform.group('crew'))?.members;

test('the account of a member was deleted → sync of the group creates it again, adds the member, and names each write', async () => {
  const created = 'member at the source; the account is created';
  const [code, dryRun] = await outcome('sync', 'crew', '--dry-run');
  expect([code, dryRun]).toEqual([2, expect.stringContaining(`create ${ANN} (its account is gone`)]);
  expect(dryRun).toContain(`addMember ${ANN} in crew (${created})`);
  expect((await outcome('explain', 'crew'))[1]).toContain(`At the platform, ${ANN}: ${created}.`);
  const [ended, text] = await outcome('sync', 'crew');
  expect(ended).toBe(0);
  for (const step of [`${ANN} create`, 'crew addMembers 1 member', `${ANN} activate`])
    expect(text).toContain(step);
  expect(await members()).toEqual([BOB, ANN]);
  expect(await place.platform.user(ANN)).toMatchObject({ active: true });
  expect(await outcome('sync', 'crew')).toEqual([0, expect.stringContaining('nothing to do, equal already')]);
}, 60_000);

test('the platform refuses to recreate the account of a member → sync and explain of the group name the member', async () => {
  const refuses = { method: 'POST', path: 'scim/v2/Users', status5xx: { share: 1, status: 400 }, times: 99 };
  await place.platform.control('PATCH', '/faults', { rules: [refuses] });
  expect(await outcome('sync', 'crew')).toEqual([2, expect.stringContaining(`${ANN} create refused`)]);
  expect(await outcome('sync', 'crew')).toEqual([
    2,
    expect.stringContaining(
      `1 membership is not written, because its member needs a person: ${ANN}; scim-bridge explain User:${ann} tells what to do`,
    ),
  ]);
  expect((await outcome('explain', 'crew'))[1]).toContain(`needs a person: member ${ANN}: Injected fault`);
  expect(await members()).toEqual([BOB]);
}, 60_000);

test("another account has the name of a member's deleted account, under adopt: report → plan, sync and explain of the group say that the membership is not written", async () => {
  const { platformUrl, fixtures } = place.sandbox.ready;
  await send(platformUrl, 'POST', '/api/scim/v2/Users', {
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/scim+json' },
    body: { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: ANN, active: true },
  });
  const conflict = 'its account is gone and another one carries its name; adopt is report';
  const [, plan] = await outcome('plan', '--full');
  expect(plan).toContain('nothing to write');
  expect(plan).toContain(
    `Person ${ANN} in crew: addMember, member at the source, whose account is gone at the platform; waits for the user, who needs a person`,
  );
  expect(await outcome('sync', 'crew')).toEqual([
    1,
    expect.stringContaining(`needs a person: ${ANN} is not in the group: ${conflict}`),
  ]);
  const [, explained] = await outcome('explain', 'crew');
  expect(explained).toContain('no run brings it before a person has acted');
  expect(explained).toContain(`At the platform, ${ANN}: ${conflict}`);
  expect(await members()).toEqual([BOB]);
  const [, ofPerson] = await outcome('explain', ANN);
  expect(ofPerson).toContain('no run brings it before a person has acted');
  expect(ofPerson).toContain(`At the platform: ${conflict}`);
  expect(await outcome('sync', ANN)).toEqual([1, expect.stringContaining(`needs a person: ${conflict}`)]);
}, 60_000);

test('an account was deleted under the policy create-only → explain and sync of the person say that no new account is made', async () => {
  await place.change(({ targets: { main } }) => {
    main.policy = 'create-only';
  });
  const [, explained] = await outcome('explain', ANN);
  expect(explained).toContain(
    'is not at main as desired, read just now: the policy create-only makes no account anew',
  );
  expect(explained).toContain('At the platform: its account is gone at the platform');
  expect(await outcome('sync', ANN)).toEqual([
    0,
    expect.stringMatching(
      /nothing to do: its account is gone .*; policy create-only leaves it, so no account is made anew/,
    ),
  ]);
  expect(await place.platform.user(ANN)).toBeUndefined();
}, 60_000);
