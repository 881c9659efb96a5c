// Tests that the provisioning log never attributes a change of the bridge to somebody else.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const NONE = { count: 0, percent: 0 };

let place: Place;
let ann = '';
beforeEach(async () => {
  const attributes = { team: { type: 'string', from: 'nickName' } };
  const guard = { delete: NONE, removeMembers: NONE, clearAttributes: NONE };
  place = await openPlace({ target: { guard, attributes } });
  ann = await place.idp.createUser(ANN, { nickName: 'red' });
  await place.idle();
}, 30_000);
afterEach(() => place.stop());

const outputOf = async (...args: string[]): Promise<string> => (await place.commands.run(...args)).text;

test('the approved deletion of a group got no answer → the log does not say that somebody else deleted the group', async () => {
  const crew = await place.idp.createGroup('crew', [ann]);
  await place.idle();
  await place.idp.send('DELETE', `/Groups/${crew}`);
  await place.idle();
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.platform.control('PATCH', '/faults', {
    rules: [{ method: 'DELETE', path: 'Groups', times: 1, dropAfter: { share: 1 } }],
  });
  expect((await place.commands.run('approvals', 'approve', id, '--yes')).code).toBe(0);
  await place.idle();
  expect(await place.platform.group('crew')).toBeUndefined();
  expect(await outputOf('log')).toContain('crew');
  expect(await outputOf('log')).not.toContain('somebody else');
}, 30_000);

test('the bridge creates an account again as inactive → the log does not say that somebody else deactivated it', async () => {
  await place.idp.patch(`/Users/${ann}`, { op: 'remove', path: 'nickName' });
  await place.idle();
  expect(await outputOf('exceptions')).toContain(ANN);
  const { platformUrl, fixtures } = place.sandbox.ready;
  const path = `${platformUrl}/api/scim/v2/Users/${(await place.platform.user(ANN))?.scimId ?? ''}`;
  const headers = { authorization: `Bearer ${fixtures.apiKeys.admin}` };
  expect((await fetch(path, { method: 'DELETE', headers })).ok).toBe(true);
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  expect((await place.platform.user(ANN))?.active).toBe(false);
  expect(await outputOf('log', '--resource', ANN)).not.toContain('somebody else made the deactivation');
}, 30_000);

test('a new policy ends a held deletion of a group → the log does not say that somebody else deleted the group', async () => {
  const crew = await place.idp.createGroup('crew', [ann]);
  await place.idle();
  await place.idp.send('DELETE', `/Groups/${crew}`);
  await place.idle();
  await place.change((settings) => {
    (settings.targets.main as any).policy = 'create-only';
  });
  await place.commands.run('sync', `Group:${crew}`);
  await place.idle();
  expect(await place.platform.group('crew')).toBeDefined();
  expect(await outputOf('exceptions')).not.toContain('crew');
  expect(await outputOf('log')).not.toContain('somebody else');
}, 30_000);
