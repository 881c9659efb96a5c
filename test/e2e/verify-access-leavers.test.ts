// Tests what verify-access tells of a leaver whose removal was held or rejected, and of the delay of a push.
import { byHand } from '../support/by-hand.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const EVE = 'eve@acme.example';
const none = { count: 0, percent: 0 };

let place: Place;
let eve = '';
let analysts = '';
beforeAll(async () => {
  const attributes = { level: { type: 'number', from: 'title' } };
  const users = { scope: 'not (title eq "guest")' };
  place = await openPlace({
    target: { guard: { deactivate: none, removeMembers: none }, attributes, users },
  });
  const { idp } = place;
  const ann = await idp.createUser(ANN);
  eve = await idp.createUser(EVE);
  analysts = await idp.createGroup('analysts', [ann, eve]);
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const verify = async (person: string) => {
  const { code, json } = await place.commands.run('verify-access', person, '--json');
  const link = (stage: string) => json.chain.find((each: any) => each.stage === stage);
  return { code, applied: link('applied'), visible: link('visible'), differences: json.differences };
};
const reject = async () => {
  const [approval] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'reject', approval.id, '--yes');
  await place.idle();
};

test('drift is repaired after a push → verify-access still shows the duration from the push to its own write', async () => {
  const { applied: before } = await verify(ANN);
  const { scimId } = (await place.platform.user(ANN)) ?? {};
  const { platformUrl, fixtures } = place.sandbox.ready;
  await new Promise((resolve) => setTimeout(resolve, 1000));
  await fetch(`${platformUrl}/api/scim/v2/Users/${scimId}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path: 'displayName', value: 'Somebody' }],
    }),
  });
  expect((await place.commands.run('sync', ANN)).text).toContain('update');
  const { applied } = await verify(ANN);
  expect(applied).toMatchObject({ ok: true, at: before.at, afterMs: before.afterMs });
}, 30_000);

test('the removals of a person from groups are held or rejected → verify-access names them with the group', async () => {
  await place.idp.patch(`/Groups/${analysts}`, { op: 'remove', path: `members[value eq "${eve}"]` });
  await place.idle();
  const held = await verify(EVE);
  expect([held.code, held.applied]).toEqual([
    2,
    expect.objectContaining({ ok: false, detail: expect.stringContaining('removal from analysts') }),
  ]);
  expect(held.applied.detail).toContain('the guard holds');
  await reject();
  const rejected = await verify(EVE);
  expect(rejected.code).toBe(2);
  expect(rejected.applied.detail).toContain('a person rejected the removal from analysts');
  expect(rejected.differences).toEqual([{ name: 'groups', desired: [], actual: ['analysts'] }]);
});

test('verify-access fails with the reason if a leaver with a rejected deactivation still sees data', async () => {
  await place.idp.patch(`/Users/${eve}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  await reject();
  const { code, visible } = await verify(EVE);
  expect([code, visible.ok]).toEqual([2, false]);
  expect(visible.detail).toContain('although inactive at the source: a person rejected the deactivation');
});

test('a leaver has an unmappable value and a rejected deactivation → verify-access names the rejection as the cause of the open account', async () => {
  const dan = await place.idp.createUser('dan@acme.example', { title: '3' });
  await place.idle();
  await place.idp.patch(
    `/Users/${dan}`,
    { op: 'replace', path: 'title', value: 'high' },
    { op: 'replace', path: 'active', value: false },
  );
  await place.idle();
  await reject();
  const { applied, differences } = await verify('dan@acme.example');
  expect(differences).toEqual([
    { name: 'active', desired: false, actual: true },
    { name: 'attributes.level', desired: null, actual: 3, unmappable: expect.any(String) },
  ]);
  expect(applied.detail).toMatch(
    /^differs at the platform: active, attributes\.level: level is string .*; a person rejected the deactivation: /,
  );
  expect(applied.at).toBeUndefined();
});

test('a value cannot be mapped and the account is closed → verify-access names the value as the cause, and does not count it as desired', async () => {
  await place.idp.createUser('fay@acme.example', { title: 'high' });
  await place.idle();
  const { differences, applied } = await verify('fay@acme.example');
  expect(differences).toEqual([
    { name: 'active', desired: true, actual: false },
    { name: 'attributes.level', desired: null, actual: null, unmappable: expect.any(String) },
  ]);
  expect(applied.detail).toMatch(/^differs at the platform: active, attributes\.level: level is string/);
  const { text } = await place.commands.run('verify-access', 'fay@acme.example');
  expect(text).toMatch(/attributes\.level: cannot be mapped \(.*\), is null/);
});

test('verify-access of an unknown name says that no such person was pushed, or that the person was forgotten', async () => {
  const { text } = await place.commands.run('verify-access', 'gus@acme.example');
  expect(text).toContain(
    'none was pushed, the connection left the settings, the person was forgotten, or stored data was lost or restored',
  );
});

test('a held deactivation is rejected → the values that waited for the decision are written, and exceptions says that other changes are written', async () => {
  const name = 'hal@acme.example';
  const fay = await place.idp.createUser(name, { title: '2' });
  await place.idle();
  await place.idp.patch(`/Users/${fay}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  await place.idp.patch(`/Users/${fay}`, { op: 'replace', path: 'title', value: '9' });
  await place.idle();
  const level = async () => (await place.platform.user(name))?.attributes?.level;
  await expect(level()).resolves.toBe(2);
  await reject();
  await expect(level()).resolves.toBe(9);
  const { text } = await place.commands.run('exceptions');
  expect(text).toContain('the account stays open, and other changes of the source are written');
});

test('a deactivation is rejected and the target on hold → verify-access compares the open account with the source, and names rejection and hold', async () => {
  const name = 'jan@acme.example';
  const jan = await place.idp.createUser(name, { title: '2' });
  const [crew, staff] = [await place.idp.createGroup('crew', [jan]), await place.idp.createGroup('staff')];
  await place.idle();
  await place.idp.patch(`/Users/${jan}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  await reject();
  await place.commands.run('hold');
  await place.idp.patch(`/Users/${jan}`, { op: 'replace', path: 'title', value: '9' });
  await place.idp.patch(`/Groups/${crew}`, { op: 'remove', path: `members[value eq "${jan}"]` });
  await place.idp.patch(`/Groups/${staff}`, { op: 'add', path: 'members', value: [{ value: jan }] });
  const { code, applied, differences } = await verify(name);
  expect([code, differences]).toEqual([
    2,
    [
      { name: 'active', desired: false, actual: true },
      { name: 'attributes.level', desired: 9, actual: 2 },
      { name: 'groups', desired: ['staff'], actual: ['crew'] },
    ],
  ]);
  expect(applied.detail).toMatch(/a person rejected the deactivation: .*, from crew; on hold by /);
  const { text } = await place.commands.run('plan');
  expect(text).not.toContain('to add');
  await place.commands.run('release');
  await place.idle();
}, 30_000);

test('the deactivation of a deleted person is rejected → exceptions says that the account keeps its values', async () => {
  const ida = await place.idp.createUser('ida@acme.example', { title: '2' });
  await place.idle();
  await place.idp.send('DELETE', `/Users/${ida}`);
  await place.idle();
  await reject();
  const { json } = await place.commands.run('exceptions', '--json');
  const { message } = json.find(({ ref }: any) => ref === `User:${ida}`);
  expect(message).toBe(
    'a person rejected the deactivation: the account stays open with the values that it has',
  );
});

test('an account differs → verify-access gives the reason: a hold, a refused change, a waiting change, or that none is stored', async () => {
  const jim = 'jim@acme.example';
  const id = await place.idp.createUser(jim);
  await place.idle();
  const detail = async (): Promise<string> => (await verify(jim)).applied.detail;
  await byHand(place, 'PATCH', `/Users/${(await place.platform.user(jim))?.scimId}`, {
    op: 'replace',
    path: 'displayName',
    value: 'Somebody',
  });
  await expect(detail()).resolves.toBe(
    `differs at the platform: displayName: no reason is stored, and scim-bridge explain User:${id} tells more`,
  );
  await place.commands.run('hold', '--by', 'olga');
  const held = 'on hold by olga: nothing is written until scim-bridge release --target main';
  await expect(detail()).resolves.toBe(`differs at the platform: displayName: ${held}`);
  const rename = (value: string) =>
    place.idp.patch(`/Users/${id}`, { op: 'replace', path: 'displayName', value });
  await rename('Jim');
  await expect(detail()).resolves.toBe(`a change waits to be applied: ${held}`);
  const faults = (status: number) => ({
    rules: [{ method: 'PATCH', path: '/Users/', status5xx: { share: 1, status } }],
  });
  await place.platform.control('PATCH', '/faults', faults(400));
  await place.commands.run('release', '--by', 'olga');
  await place.idle();
  await expect(detail()).resolves.toBe(
    'differs at the platform: displayName: the platform refused the last change: Injected fault',
  );
  await place.platform.control('PATCH', '/faults', { rules: [] });
}, 60_000);

test('a person out of scope never had an account → verify-access says that there is no account', async () => {
  await place.idp.createUser('kim@acme.example', { title: 'guest' });
  await place.idle();
  const { code, applied, visible } = await verify('kim@acme.example');
  expect([code, applied.detail, visible.detail]).toEqual([
    0,
    'there is no account, as it should be: out of the scope of this target',
    'nothing: there is no account',
  ]);
});
