// Tests a held leaver whom somebody took out of a group by hand: no plan adds the membership before the leaver is reactivated.
import '../support/load-modules.ts';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const SCOPE = 'title ne "guest"';
const NONE = { count: 0, percent: 100 };
const WAITS =
  'member at the source, taken out at the platform; waits for the held account: see scim-bridge approvals list';

let place: Place;
let ann: string;
beforeEach(async () => {
  place = await openPlace({ target: { guard: { deactivate: NONE, delete: NONE, removeMembers: NONE } } });
  ann = await place.idp.createUser(ANN, { title: 'guest' });
  await place.idp.createGroup('crew', [ann, await place.idp.createUser(BOB)]);
  await place.idle();
}, 30_000);
afterEach(() => place.stop());

const { told } = commandsAt(() => place);
const members = async () => (await place.platform.group('crew'))?.members;

async function takeAnnOut(): Promise<void> {
  const group = await place.platform.group('crew');
  const account = await place.platform.user(ANN);
  const path = `members[value eq "${account?.scimId}"]`;
  await byHand(place, 'PATCH', `/Groups/${group?.scimId}`, { op: 'remove', path });
  expect(await members()).toEqual([BOB]);
}

const setActive = (value: boolean) =>
  place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value });
async function setUsers(users: object): Promise<void> {
  await place.change(({ targets: { main } }) => {
    main.users = users;
  });
  await place.commands.run('reconcile', '--yes');
  await place.idle();
}

test('a person with a held deactivation is outside a new scope and removed from a group by hand → plan adds no membership, and without the scope it is written again', async () => {
  await setUsers({ scope: SCOPE });
  expect(await told('approvals', 'list')).toContain('1 to deactivate');
  await takeAnnOut();
  for (const command of [['plan'], ['explain', ANN]])
    expect(await told(...command)).not.toMatch(/addMember|member at the source/);
  await place.stopApps();
  const file = join(place.commands.folder, 'bridge.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace('ne \\"guest', 'ne \\"nobody'));
  expect(await told('plan')).toContain(WAITS);
  await setUsers({});
  expect(await members()).toEqual([BOB, ANN]);
}, 60_000);

test('a person with a held deactivation is removed from a group by hand → plan and sync --dry-run list no write, and the membership is written after the reactivation', async () => {
  await setActive(false);
  await place.idle();
  await takeAnnOut();
  // The first plan finds the difference; after the reconcile the membership is pending.
  for (const isPending of [false, true]) {
    if (isPending) await place.commands.run('reconcile', '--yes');
    await place.idle();
    expect(await members()).toEqual([BOB]);
    const plan = await told('plan');
    expect(plan).toMatch(/nothing to write.* 1 difference that no run changes/);
    expect(plan).toContain(isPending ? 'waits for the held account' : WAITS);
    const dry = await told('sync', ANN, '--dry-run');
    expect(dry).toMatch(/nothing would be written.*differs and is not written:.*addMember/);
  }
  await setActive(true);
  await place.idle();
  expect(await members()).toEqual([BOB, ANN]);
}, 60_000);
