// Tests the profile `rfc`: deviations of identity providers are refused with the error of the RFC.
import { ENTERPRISE, GROUP, PATCH_OP, SEARCH, startProfiles, USER, userBody, type Client } from './client.ts';
import type { Bridge } from '../../support/build-bridge.ts';

let bridge: Bridge;
let scim: Client;
let user: string;
beforeAll(async () => {
  const { bridge: started, on } = await startProfiles();
  bridge = started;
  scim = on.rfc;
  user = (await scim.user('rfc@x.example')).id;
});
afterAll(() => bridge.stop());

test.each([
  ['a capitalised op', { op: 'Replace', path: 'title', value: 'x' }, 'invalidSyntax'],
  ['a boolean as text', { op: 'replace', path: 'active', value: 'False' }, 'invalidValue'],
  [
    'replace at a filter that matches nothing',
    { op: 'replace', path: 'emails[type eq "home"].value', value: 'x' },
    'noTarget',
  ],
  ['an unknown attribute', { op: 'add', path: 'nosuch', value: 'x' }, 'invalidPath'],
  ['a manager as text', { op: 'add', path: `${ENTERPRISE}:manager`, value: '9' }, 'invalidValue'],
  ['an unquoted value', { op: 'add', path: 'emails[type eq work].value', value: 'x' }, 'invalidFilter'],
])(
  'under the profile rfc a PATCH with %s answers 400 and changes nothing (RFC 7644 §3.5.2, §3.12)',
  async (_what, operation, scimType) => {
    const answer = await scim.patch(`/Users/${user}`, operation);
    expect(answer).toMatchObject({ status: 400, body: { scimType } });
    expect((await scim.get(`/Users/${user}`)).body.meta.version).toBe('W/"1"');
  },
);

test('under the profile rfc PATCH, .search and POST without their schema answer 400 (RFC 7644 §3.1)', async () => {
  const operations = { Operations: [{ op: 'replace', path: 'title', value: 'x' }] };
  expect((await scim.send('PATCH', `/Users/${user}`, operations)).status).toBe(400);
  expect((await scim.send('PATCH', `/Users/${user}`, { schemas: [PATCH_OP], Operations: [] })).status).toBe(
    400,
  );
  expect((await scim.post('/Users/.search', { count: 1 })).status).toBe(400);
  expect((await scim.post('/Users/.search', { schemas: [SEARCH], count: 1 })).status).toBe(200);
  expect((await scim.post('/Users', userBody('bare@x.example', { schemas: undefined }))).status).toBe(400);
  expect(
    (await scim.post('/Users', userBody('alien@x.example', { schemas: [USER, 'urn:x:y'] }))).status,
  ).toBe(400);
});

test('under the profile rfc an unquoted filter value answers 400 invalidFilter (RFC 7644 §3.4.2.2)', async () => {
  expect(await scim.get('/Users?filter=userName%20eq%20rfc@x.example')).toMatchObject({
    status: 400,
    body: { scimType: 'invalidFilter' },
  });
});

test('under the profile rfc ServiceProviderConfig announces sorting, and a list with sortBy answers 200 (RFC 7644 §3.4.2.3)', async () => {
  expect((await scim.get('/ServiceProviderConfig')).body.sort.supported).toBe(true);
  expect((await scim.get('/Users?sortBy=userName')).status).toBe(200);
});

test('under the profile rfc PUT of a group without members removes all members, and POST of a deactivated user answers 409', async () => {
  const group = await scim.group('rfc', [user]);
  const put = await scim.put(`/Groups/${group.id}`, { schemas: [GROUP], displayName: 'rfc' });
  expect(put).toMatchObject({ status: 200, body: { members: [] } });
  await scim.patch(`/Users/${user}`, { op: 'replace', path: 'active', value: false });
  expect((await scim.post('/Users', userBody('rfc@x.example'))).status).toBe(409);
});

test('under the profile rfc PATCH replace of a missing member answers 400 noTarget and changes nothing (RFC 7644 §3.5.2.3)', async () => {
  const { id: other } = await scim.user('other@x.example');
  const group = await scim.group('replaced', [user]);
  const replace = (who: string) =>
    scim.patch(`/Groups/${group.id}`, {
      op: 'replace',
      path: `members[value eq "${who}"]`,
      value: { value: other },
    });
  expect(await replace('nobody')).toMatchObject({ status: 400, body: { scimType: 'noTarget' } });
  expect((await scim.get(`/Groups/${group.id}`)).body).toEqual(group);
  expect((await replace(user)).status).toBe(204);
  expect((await scim.get(`/Groups/${group.id}`)).body.members).toMatchObject([{ value: other }]);
});

test('under the profile rfc a member with `$ref` and without `value` answers 400 invalidValue and changes nothing (RFC 7643 §4.2)', async () => {
  const { id: other } = await scim.user('by-reference@x.example');
  const group = await scim.group('referenced', [user]);
  const members = [{ $ref: `https://idp.example/scim/v2/Users/${other}` }];
  const body = { schemas: [GROUP], displayName: 'new', members };
  for (const answer of [
    await scim.post('/Groups', body),
    await scim.put(`/Groups/${group.id}`, body),
    await scim.patch(`/Groups/${group.id}`, { op: 'add', path: 'members', value: members }),
    await scim.patch(`/Groups/${group.id}`, { op: 'add', value: { members } }),
  ])
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
  expect((await scim.get(`/Groups/${group.id}`)).body).toEqual(group);
});
