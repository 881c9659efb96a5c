// Tests prototype pollution at every position of a request (GHSA-9m6g-wc8r-q59c, GHSA-2mhw-wcx5-v3xj).
import {
  CUSTOM,
  ENTERPRISE,
  GROUP,
  startApi,
  startProfiles,
  USER,
  type Client,
} from '../scim-conformance/client.ts';
import type { Bridge } from '../../support/build-bridge.ts';
import { expectUnharmed } from './attack.ts';

let bridge: Bridge;
let scim: Client;
beforeAll(async () => {
  ({ bridge, scim } = await startApi());
});
afterAll(() => bridge.stop());
afterEach(() => expectUnharmed(scim));

const INHERITED = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  '__defineGetter__',
];
let serial = 0;
const fresh = (): string => `p${++serial}@x.example`;

describe.each(INHERITED)('the name %s', (name) => {
  test('a key such as __proto__ at any level of a POST body is left out (201) or refused (400)', async () => {
    const evil = `"${name}":{"polluted":true,"prototype":{"polluted":true}}`;
    const bodies = [
      `{"schemas":["${USER}"],"userName":"${fresh()}",${evil}}`,
      `{"schemas":["${USER}"],"userName":"${fresh()}","name":{"givenName":"a",${evil}}}`,
      `{"schemas":["${USER}"],"userName":"${fresh()}","emails":[{"value":"a@x",${evil}}]}`,
      `{"schemas":["${USER}"],"userName":"${fresh()}","emails":{${evil}}}`,
      `{"schemas":["${USER}"],"userName":"${fresh()}","${ENTERPRISE}":{"department":"d",${evil}}}`,
      `{"schemas":["${USER}"],"userName":"${fresh()}","${ENTERPRISE}":{"manager":{"value":"1",${evil}}}}`,
      `{"schemas":["${USER}"],"userName":"${fresh()}","${ENTERPRISE}":{"manager":{"$ref":"/1",${evil}}}}`,
      `{"schemas":["${USER}"],"userName":"${fresh()}","${CUSTOM}":{${evil}}}`,
      `{"schemas":["${USER}"],"userName":"${fresh()}","${CUSTOM}":{"${name}":"polluted"}}`,
      `{"schemas":["${USER}"],"userName":"${fresh()}","${CUSTOM}:${name}":"polluted"}`,
      `{"schemas":["${USER}"],"userName":"${fresh()}","name.${name}":"polluted"}`,
      `{"schemas":["${USER}","${name}"],"userName":"${fresh()}"}`,
    ];
    for (const body of bodies) {
      const answer = await scim.post('/Users', body);
      expect([201, 400]).toContain(answer.status);
      if (answer.status === 201) {
        expect(Object.keys(answer.body)).not.toContain(name);
        const again = await scim.get(`/Users/${answer.body.id}`);
        expect(again.status).toBe(200);
        expect((await scim.put(`/Users/${answer.body.id}`, body)).status).toBe(200);
      }
    }
    const members = `{"schemas":["${GROUP}"],"displayName":"${fresh()}","members":[{"value":"${name}",${evil}},"${name}"],${evil}}`;
    const group = await scim.post('/Groups', members);
    expect(group.status).toBe(201);
    expect(group.body.members).toEqual([{ value: name }]);
  });

  test('a PATCH path such as __proto__ answers 200, 204 or 400, and the user can still be read', async () => {
    const { id } = await scim.user(fresh());
    const { id: group } = await scim.group(fresh());
    const paths = [
      name,
      `${name}.polluted`,
      `${name}.prototype.polluted`,
      `name.${name}`,
      `name.${name}.polluted`,
      `emails.${name}`,
      `emails[type eq "work"].${name}`,
      `emails[${name} eq "x"].value`,
      `${name}[value eq "x"].value`,
      `${USER}:${name}`,
      `${ENTERPRISE}:${name}`,
      `${ENTERPRISE}:manager.${name}`,
      `${CUSTOM}:${name}`,
      `${CUSTOM}:${name}.polluted`,
      `${CUSTOM}.${name}`,
      `members.${name}`,
      `members[${name} eq "x"]`,
    ];
    for (const path of paths) {
      for (const op of ['add', 'replace', 'remove']) {
        for (const value of ['true', '{"polluted":true}', `[{"value":"x","${name}":{"polluted":true}}]`]) {
          const body = `{"Operations":[{"op":"${op}","path":${JSON.stringify(path)},"value":${value}}]}`;
          expect([200, 204, 400]).toContain((await scim.send('PATCH', `/Users/${id}`, body)).status);
          expect([200, 204, 400]).toContain((await scim.send('PATCH', `/Groups/${group}`, body)).status);
        }
      }
    }
    expect((await scim.get(`/Users/${id}`)).status).toBe(200);
  });

  test('a key such as __proto__ in a PATCH value, operation or message is ignored (200) or refused (400)', async () => {
    const { id } = await scim.user(fresh());
    const evil = `"${name}":{"polluted":true}`;
    for (const operation of [
      `{"op":"add","value":{${evil}}}`,
      `{"op":"replace","value":{"name":{${evil}}}}`,
      `{"op":"replace","value":{"name.${name}":"x","${name}.polluted":true}}`,
      `{"op":"replace","value":{"emails[type eq \\"work\\"].${name}":"x"}}`,
      `{"op":"add","value":{"${CUSTOM}":{${evil}}}}`,
      `{"op":"add","value":{"${CUSTOM}":{"${name}":"polluted"}}}`,
      `{"op":"add","value":{"${CUSTOM}:${name}":"polluted"}}`,
      `{"op":"remove","path":"${CUSTOM}","value":{"${name}":"polluted"}}`,
      `{"op":"add","path":"name","value":{${evil}}}`,
      `{"op":"add","path":"emails","value":[{"value":"q@x",${evil}}]}`,
      `{"op":"replace","path":"${ENTERPRISE}:manager","value":{"value":"1",${evil}}}`,
      `{"op":"replace","path":"title","value":"x",${evil}}`,
      `{"op":"${name}","path":"title","value":"x"}`,
    ]) {
      const answer = await scim.send('PATCH', `/Users/${id}`, `{"Operations":[${operation}],${evil}}`);
      expect([200, 400]).toContain(answer.status);
    }
  });

  test('a filter on an attribute named __proto__ or constructor answers 400 invalidFilter', async () => {
    for (const filter of [
      `${name} pr`,
      `${name} eq "x"`,
      `${name}.name eq "Object"`,
      `name.${name} pr`,
      `emails.${name} pr`,
      `emails[${name} pr]`,
      `emails[type eq "work"].${name} eq "x"`,
      `${ENTERPRISE}:${name} pr`,
      `${ENTERPRISE}:manager.${name} pr`,
    ]) {
      const answer = await scim.get(`/Users?filter=${encodeURIComponent(filter)}`);
      expect([filter, answer.status, answer.body.scimType]).toEqual([filter, 400, 'invalidFilter']);
    }
    const open = await scim.get(`/Users?filter=${encodeURIComponent(`${CUSTOM}:${name} pr`)}`);
    expect([200, 400]).toContain(open.status);
    expect(await scim.find('/Users', `userName eq "${name}"`)).toEqual([]);
    expect(await scim.find('/Users', `externalId eq "${name}"`)).toEqual([]);
    expect(await scim.find('/Users', `emails.value eq "${name}"`)).toEqual([]);
  });

  test('a query parameter named __proto__ is ignored, and /Users/__proto__ answers 404', async () => {
    const { id } = await scim.user(fresh());
    for (const query of [
      `${name}=polluted`,
      `${name}[polluted]=true`,
      `${name}.polluted=true`,
      `filter[${name}]=x`,
      `attributes=${name}`,
      `attributes=${name}.polluted,name.${name},emails.${name},${CUSTOM}:${name},${ENTERPRISE}:${name}`,
      `excludedAttributes=${name}`,
      `excludedAttributes=${name}.polluted,name.${name},${CUSTOM}:${name}`,
      `sortBy=${name}`,
    ]) {
      expect((await scim.get(`/Users?${query}`)).status).toBe(200);
      const one = await scim.get(`/Users/${id}?${query}`);
      expect(one.body.id).toBe(id);
    }
    for (const path of [`/Users/${name}`, `/Groups/${name}`, `/Schemas/${name}`, `/ResourceTypes/${name}`]) {
      expect((await scim.get(path)).status).toBe(404);
    }
    expect((await scim.put(`/Users/${name}`, { userName: fresh() })).status).toBe(404);
    expect(
      (await scim.patch(`/Groups/${name}`, { op: 'add', path: 'members', value: [{ value: name }] })).status,
    ).toBe(404);
    expect((await scim.delete(`/Users/${name}`)).status).toBe(404);
    const search = `{"${name}":{"startIndex":"x"},"attributes":["${name}"],"filter":"userName eq \\"${name}\\""}`;
    expect((await scim.post('/Users/.search', search)).body.totalResults).toBe(0);
  });

  test('a user or group named __proto__ is stored, found by filters and used as a member like any other', async () => {
    const user = await scim.user(name, { externalId: name });
    expect(await scim.find('/Users', `userName eq "${name}"`)).toHaveLength(1);
    expect((await scim.post('/Users', { userName: name })).status).toBe(409);
    const group = await scim.group(name, [name]);
    expect(group.members).toEqual([expect.objectContaining({ value: user.id })]);
    expect(
      (await scim.patch(`/Groups/${group.id}`, { op: 'remove', path: `members[value eq "${name}"]` })).status,
    ).toBe(204);
    expect((await scim.get(`/Groups/${group.id}`)).body.members).toEqual([]);
    await scim.delete(`/Users/${user.id}`);
    await scim.delete(`/Groups/${group.id}`);
  });
});

test('an address whose connection is named __proto__ or constructor answers 404', async () => {
  for (const name of INHERITED) {
    const answer = await scim.get(`http://127.0.0.1:${scim.port}/connections/${name}/scim/v2/Users`);
    expect(answer.status).toBe(404);
  }
});

test('under every profile a POST with the keys `__proto__` and `constructor` answers 201 or 400 and changes no JavaScript prototype', async () => {
  const { bridge: other, on } = await startProfiles();
  for (const client of Object.values(on)) {
    const evil = `{"schemas":["${USER}"],"userName":"${fresh()}","__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":1}}}`;
    expect([201, 400]).toContain((await client.post('/Users', evil)).status);
    await expectUnharmed(client);
  }
  await other.stop();
});
