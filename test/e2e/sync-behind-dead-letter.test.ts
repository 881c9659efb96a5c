// Tests sync of a person whose membership waits for its group.
import '../support/load-modules.ts';
import { send } from '../support/send.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';

let place: Place;
let ann: string;
let group: string;
beforeAll(async () => {
  place = await openPlace({ target: { adopt: 'report' } });
  const { platformUrl, fixtures } = place.sandbox.ready;
  await send(platformUrl, 'POST', '/api/scim/v2/Groups', {
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/scim+json' },
    body: { schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], displayName: 'guests', members: [] },
  });
  ann = await place.idp.createUser(ANN);
  group = await place.idp.createGroup('guests', [ann]);
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const sync = async (): Promise<[code: number, text: string]> => {
  const { code, text } = await place.commands.run('sync', ANN, '--timeout', '5');
  return [code, text.replaceAll(/\s+/g, ' ')];
};

test('a person is in a group that is a dead letter → sync of the person exits 2 and names the group', async () => {
  expect(await sync()).toEqual([
    2,
    expect.stringContaining(
      `waiting: 1 membership is not written, because its group needs a person: guests; scim-bridge explain Group:${group} tells what to do`,
    ),
  ]);
  expect((await place.platform.group('guests'))?.members).toEqual([]);
});

test('a person is in a group that is a dead letter → explain and verify-access name the group, the reason, and the commands that help', async () => {
  const { json } = await place.commands.run('explain', ANN, '--json');
  expect(json[0]).toMatchObject({
    verdict: 'needsPerson',
    summary: expect.stringContaining('group guests:'),
  });
  expect(json[0].reasons.join(' ')).toMatch(
    new RegExp(`group guests needs a person .*: NotAdopted: .* scim-bridge sync Group:${group}`),
  );
  const { text } = await place.commands.run('verify-access', ANN);
  expect(text).toMatch(new RegExp(`the group guests needs a person .* explain Group:${group} tells`));
});

test('the platform refuses to rename a group → explain of a member does not advise a sync of this person', async () => {
  const staff = await place.idp.createGroup('staff', [ann]);
  await place.idle();
  const refused = {
    method: 'PATCH',
    path: 'scim/v2/Groups',
    times: 9999,
    status5xx: { share: 1, status: 400 },
  };
  await place.platform.control('PATCH', '/faults', { rules: [refused] });
  await place.idp.patch(`/Groups/${staff}`, { op: 'replace', path: 'displayName', value: 'team' });
  await place.idle();
  const [found] = (await place.commands.run('explain', ANN, '--json')).json;
  expect(found).toMatchObject({ verdict: 'needsPerson', platform: { differences: [] } });
  expect(found.reasons.join(' ')).toMatch(
    new RegExp(
      `group team needs a person .*: Refused: .* Then scim-bridge sync Group:${staff} tries it again`,
    ),
  );
  expect((await place.commands.run('sync', ANN, '--dry-run')).code).toBe(0);
  await place.platform.control('PATCH', '/faults', { rules: [] });
  await place.commands.run('sync', `Group:${staff}`);
  expect((await place.platform.group('team'))?.members).toEqual([ANN]);
}, 30_000);

test('a group that was a dead letter is adopted → sync of a member exits 0', async () => {
  await place.change(({ targets: { main } }) => {
    main.adopt = 'exact';
  });
  await place.commands.run('reconcile');
  await place.commands.run('sync', `Group:${group}`);
  await place.idle();
  expect((await place.platform.group('guests'))?.members).toEqual([ANN]);
  expect(await sync()).toEqual([0, expect.stringContaining('equal already')]);
}, 30_000);

test('the platform does not write a group in time → sync of a member exits 2 and names the group', async () => {
  const isDown = {
    method: 'POST',
    path: 'scim/v2/Groups',
    times: 9999,
    status5xx: { share: 1, status: 503 },
  };
  await place.platform.control('PATCH', '/faults', { rules: [isDown] });
  await place.idp.createGroup('editors', [ann]);
  expect(await sync()).toEqual([
    2,
    expect.stringContaining('waiting: 1 membership is not written yet: editors'),
  ]);
  await place.platform.control('PATCH', '/faults', { rules: [] });
}, 30_000);
