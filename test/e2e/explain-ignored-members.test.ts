// Tests explain of people while the platform answers changes of members with success and does not apply them.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const MIA = 'mia@acme.example';
const TOM = 'tom@acme.example';

let place: Place;
beforeAll(async () => {
  place = await openPlace({
    target: {
      attributes: {
        regions: {
          type: 'string_array',
          expression: 'groups.display[$match($, /^region-/)]',
          onEmpty: 'clear',
        },
      },
    },
  });
  const { idp } = place;
  const mia = await idp.createUser(MIA);
  const tom = await idp.createUser(TOM);
  const region = await idp.createGroup('region-us', [mia, await idp.createUser('bob@acme.example')]);
  await place.idle();
  await place.platform.control('PATCH', '/faults', {
    rules: [{ method: 'PATCH', path: 'Groups', ignoreMembers: true }],
  });
  await idp.patch(
    `/Groups/${region}`,
    { op: 'remove', path: `members[value eq "${mia}"]` },
    { op: 'add', path: 'members', value: [{ value: tom }] },
  );
  await eventually('the group fails', async () =>
    (await place.commands.run('explain', 'region-us')).text.includes('does not arrive'),
  );
}, 60_000);
afterAll(() => place.stop());

test.each([MIA, TOM])(
  'the platform ignores an addition or removal of a member → explain of the person (%s) says that this change fails',
  async (name) => {
    const { text } = await place.commands.run('explain', name);
    expect(text).toContain('has failed since');
    expect(text).not.toContain('nobody has to do anything');
    expect(text).not.toContain('the next reconcile that repairs');
  },
);

test('the display name of a person drifted and the platform ignores a membership change → explain reports that the change fails', async () => {
  const { platformUrl, fixtures } = place.sandbox.ready;
  const scimId = (await place.platform.user(TOM))?.scimId ?? '';
  const answer = await fetch(`${platformUrl}/api/scim/v2/Users/${scimId}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/scim+json' },
    body: JSON.stringify({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path: 'displayName', value: 'Other Name' }],
    }),
  });
  expect(answer.ok).toBe(true);
  const { text } = await place.commands.run('explain', TOM);
  expect(text).toContain('the next reconcile that repairs');
  expect(text).toContain('A membership has failed since');
});
