// Tests that explain returns the values that the platform really has, also where no run compares or writes them.
import '../support/load-modules.ts';
import { ADMIN_TOKEN } from '../support/build-bridge.ts';
import { byHand } from '../support/by-hand.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ADA = 'ada@acme.example';
const BOB = 'bob@acme.example';
let place: Place;
let ada: string;

beforeAll(async () => {
  const attributes = {
    level: { type: 'number', from: 'title' },
    vpnKey: { type: 'string', from: 'nickName' },
  };
  place = await openPlace({ target: { attributes } });
  ada = await place.idp.createUser(ADA, { displayName: 'Ada' });
  await place.idp.createGroup('analysts', [ada]);
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const explained = async (resource: string): Promise<any> => {
  const answer = await fetch(`http://127.0.0.1:${place.port}/admin/v1/explain`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ resource, readPlatform: true }),
  });
  return ((await answer.json()) as any[])[0];
};
const valueOf = ({ values }: any, wanted: string) => values.find(({ name }: any) => name === wanted);

test('explain shows the value at the platform of an attribute whose source value cannot be mapped', async () => {
  const bob = await place.idp.createUser(BOB, { title: '3' });
  await place.idle();
  await place.idp.patch(`/Users/${bob}`, { op: 'replace', path: 'title', value: 'three' });
  await place.idle();
  expect(valueOf(await explained(bob), 'attributes.level')).toMatchObject({
    state: 'unmappable',
    observed: 3,
  });
});

test('explain hides a value that somebody gave at the platform to an attribute with a secret name', async () => {
  const cid = await place.idp.createUser('cid@acme.example', { nickName: 'from-source' });
  await place.idle();
  expect(valueOf(await explained(cid), 'attributes.vpnKey')).toMatchObject({ observed: 'from-source' });
  const { scimId = '' } = (await place.platform.user('cid@acme.example')) ?? {};
  const path = 'urn:cube:params:1.0:UserAttribute:vpnKey';
  await byHand(place, 'PATCH', `/Users/${scimId}`, { op: 'replace', path, value: 'by-hand' });
  const found = await explained(cid);
  expect(valueOf(found, 'attributes.vpnKey')).toMatchObject({ desired: 'from-source', observed: '[hidden]' });
  expect(JSON.stringify(found)).not.toContain('by-hand');
});

test('explain of a protected person shows the account and its groups as the platform has these', async () => {
  await place.change(({ targets: { main } }) => {
    main.users = { ...(main.users as object), protected: [ADA] };
  });
  await place.idp.patch(
    `/Users/${ada}`,
    { op: 'replace', path: 'displayName', value: 'Ada King' },
    { op: 'replace', path: 'active', value: false },
  );
  await place.idle();
  const found = await explained(ada);
  expect(found.verdict).toBe('leftAlone');
  expect(valueOf(found, 'active')).toMatchObject({ desired: false, observed: true });
  expect(valueOf(found, 'displayName')).toMatchObject({ desired: 'Ada King', observed: 'Ada' });
  expect(valueOf(found, 'userName')).toMatchObject({ observed: ADA });
  expect(found.platform).toMatchObject({ state: 'differs', differences: [], addedByOthers: ['analysts'] });
  expect(found.reasons.join(' ')).toContain(
    'At the platform it is in 1 group, which the bridge leaves because the person is protected: analysts.',
  );
});
