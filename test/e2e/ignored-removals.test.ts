// Tests a platform that answers the removal of a member with success and keeps the member: other changes are still applied.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { startFront, type Front } from '../support/front.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';

let place: Place;
let front: Front;
afterEach(async () => {
  await place.stop();
  front.stop();
});

test('the platform ignores the removal of a member → another person can still join the group', async () => {
  place = await openPlace({});
  front = await startFront();
  front.platformUrl = place.sandbox.ready.platformUrl;
  await place.change(({ targets: { main } }) => {
    main.url = front.url;
  });
  const ann = await place.idp.createUser(ANN);
  const bob = await place.idp.createUser(BOB);
  const crew = await place.idp.createGroup('crew', [ann]);
  await place.idle();
  const found = (await place.platform.group('crew')) as any;
  const scimIdOfAnn = (await place.platform.user(ANN))?.scimId ?? '';
  let removals = 0;
  front.answer = (method, url, body) => {
    if (method !== 'PATCH' || !url.includes(`/Groups/${found.scimId}`) || !body.includes('"remove"'))
      return undefined;
    removals++;
    const members = [{ value: scimIdOfAnn, display: ANN }];
    return {
      status: 200,
      headers: { 'content-type': 'application/scim+json' },
      body: JSON.stringify({ id: found.scimId, displayName: 'crew', members }),
    };
  };
  await place.idp.patch(
    `/Groups/${crew}`,
    { op: 'remove', path: `members[value eq "${ann}"]` },
    { op: 'add', path: 'members', value: [{ value: bob }] },
  );
  await eventually('the removal is tried', () => Promise.resolve(removals > 0));
  await eventually('bob joins', async () => (await place.platform.group('crew'))?.members.length === 2);
  const { text } = await place.commands.run('explain', 'crew', '--all');
  expect(text).toContain('the platform answered success and kept 1 of 1 member in the group');
}, 30_000);

test('the platform ignores the deactivation of a leaver → the leaver is still removed from the groups', async () => {
  place = await openPlace({});
  front = await startFront();
  front.platformUrl = place.sandbox.ready.platformUrl;
  await place.change(({ targets: { main } }) => {
    main.url = front.url;
  });
  const ann = await place.idp.createUser(ANN);
  await place.idp.createGroup('crew', [ann]);
  await place.idle();
  const id = (await place.platform.user(ANN))?.scimId ?? '';
  front.answer = (method, url) =>
    method === 'PATCH' && url.includes(`/Users/${id}`)
      ? {
          status: 200,
          headers: { 'content-type': 'application/scim+json' },
          body: JSON.stringify({ id, userName: ANN, active: true }),
        }
      : undefined;
  await place.idp.send('DELETE', `/Users/${ann}`);
  await eventually(
    'ann left the group',
    async () => (await place.platform.group('crew'))?.members.length === 0,
    30_000,
  );
  expect((await place.platform.user(ANN))?.active).toBe(true);
  expect((await place.commands.run('status', '--json')).json[0].dirty).toBeGreaterThan(0);
}, 60_000);
