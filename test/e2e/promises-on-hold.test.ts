// Tests that commands promise nothing that a hold of the target prevents: no sync judges, writes or ends a held change then.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const NAMES = ['ann@acme.example', 'bob@acme.example', 'cid@acme.example', 'dan@acme.example'] as const;
const [ANN, BOB, CID, DAN] = NAMES;
const RELEASE = 'after the end of the hold of the target: scim-bridge release --target main ends it.';
const NOT_ON_HOLD = 'but not while the target is on hold';

let place: Place;
let ids: string[];
let approval: string;
beforeAll(async () => {
  place = await openPlace({ target: { guard: { deactivate: { count: 0, percent: 0 } } } });
  ids = [];
  for (const name of NAMES) ids.push(await place.idp.createUser(name));
  await place.idle();
  for (const id of ids)
    await place.idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  [{ id: approval }] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('hold');
}, 60_000);
afterAll(() => place.stop());

const { told } = commandsAt(() => place);
const isActive = async (name: string): Promise<unknown> => (await place.platform.user(name))?.active;

test('while the target is on hold, somebody closes an account whose deactivation is held → plan and explain say that it leaves the list only after the hold', async () => {
  const { scimId } = (await place.platform.user(ANN)) ?? {};
  await byHand(place, 'PATCH', `/Users/${scimId}`, { op: 'replace', path: 'active', value: false });
  expect(await told('plan')).toContain(`takes it off the list, ${NOT_ON_HOLD}`);
  expect(await told('explain', ANN)).toContain(
    `After the end of the hold of main, the next reconcile, or scim-bridge sync User:${ids[0]}, takes it off the list.`,
  );
  expect(await told('explain', ANN)).not.toContain('looked at again by itself');
}, 30_000);

test('held changes are approved, and a rejection is withdrawn, while the target is on hold → both answers say that nothing happens before its end, and a rejection does not', async () => {
  expect(await told('approvals', 'approve', approval, '--person', BOB, '--yes')).toContain(
    'Nothing is written before the end of the hold of the target: scim-bridge release --target main ends it.',
  );
  const rejected = await told('approvals', 'reject', approval, '--person', CID, '--yes');
  expect(rejected).not.toContain('release');
  const withdrawn = await told('approvals', 'withdraw', approval, '--person', CID, '--yes');
  expect(withdrawn).toContain(`The guard judges it anew ${RELEASE} What fits its limits is written`);
  expect(await isActive(BOB)).toBe(true);
}, 30_000);

test('the settings change while the target is on hold → status, exceptions, plan, explain and approvals show say that the held change is not judged anew during the hold', async () => {
  await place.change(({ targets }) =>
    Object.assign(targets.main ?? {}, { groups: { members: 'authoritative' } }),
  );
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  for (const words of [['status'], ['exceptions'], ['plan'], ['explain', DAN], ['approvals', 'show', id]])
    expect(await told(...words)).toContain(
      `the next reconcile, or scim-bridge sync, judges it anew, ${NOT_ON_HOLD}`,
    );
}, 60_000);

test('the hold ends → the approved deactivation is written, the withdrawn one is held again, and the one made by hand is off the list', async () => {
  await place.commands.run('release');
  await place.commands.run('reconcile', '--yes');
  await place.idle();
  expect([await isActive(BOB), await isActive(CID)]).toEqual([false, true]);
  const list = (await place.commands.run('approvals', 'list', '--json')).json;
  expect(list).toMatchObject([{ total: 2 }]);
  const shown = await told('approvals', 'show', list[0].id);
  for (const name of [CID, DAN]) expect(shown).toContain(name);
  expect(await told('explain', ANN)).not.toContain('off the list');
}, 60_000);
