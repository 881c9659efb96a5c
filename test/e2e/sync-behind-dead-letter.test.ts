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

test("sync of a person exits 2 and names the person's group that is a dead letter", async () => {
  expect(await sync()).toEqual([
    2,
    expect.stringContaining(
      `waiting: 1 membership is not written, because its group needs a person: guests; scim-bridge explain Group:${group} tells what to do`,
    ),
  ]);
  expect((await place.platform.group('guests'))?.members).toEqual([]);
});

test('sync of a person exits 0 after the group that was a dead letter is adopted', async () => {
  await place.change(({ targets: { main } }) => {
    main.adopt = 'exact';
  });
  await place.commands.run('reconcile');
  await place.commands.run('sync', `Group:${group}`);
  await place.idle();
  expect((await place.platform.group('guests'))?.members).toEqual([ANN]);
  expect(await sync()).toEqual([0, expect.stringContaining('equal already')]);
}, 30_000);

test("sync of a person exits 2 and names the person's group that the platform does not write in time", async () => {
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
