// Simulates Okta: sends the requests that it really sends, including its deviations from the RFC.
import { randomBytes } from 'node:crypto';
import { fullName, type Group, type Person } from './company.ts';
import {
  CUBE_ATTRIBUTES,
  CORE_GROUP,
  CORE_USER,
  costCenter,
  createIds,
  ENTERPRISE,
  patchOf,
  userType,
  type SimulatedIdp,
} from './idp.ts';
import type { ScimHttp } from './scim-http.ts';

/** Creates Okta: it sends whole users by PUT, deactivates by PATCH without a path, and changes groups by PATCH. */
export function createOkta(http: ScimHttp): SimulatedIdp {
  const ids = createIds();
  const url = (kind: string, key: string): string => `/${kind}/${ids.of(key)}`;
  const lookUp = (kind: string, attribute: string, value: string): Promise<unknown> =>
    http.send(
      'GET',
      `/${kind}?filter=${encodeURIComponent(`${attribute} eq "${value}"`)}&startIndex=1&count=100`,
    );
  /** Returns the whole user as Okta sends it. */
  const profile = (person: Person): object => ({
    schemas: [CORE_USER, ENTERPRISE, CUBE_ATTRIBUTES],
    userName: person.userName,
    name: { givenName: person.givenName, familyName: person.familyName },
    emails: [{ primary: true, value: person.userName, type: 'work' }],
    addresses: [{ type: 'work', primary: true, country: person.country }],
    displayName: fullName(person),
    title: person.title,
    userType: userType(person),
    locale: 'en-US',
    externalId: person.externalId,
    groups: [],
    // Sent even when password sync is off; the bridge ignores it.
    password: randomBytes(9).toString('base64'),
    active: person.active,
    [ENTERPRISE]: { costCenter: costCenter(person) },
    [CUBE_ATTRIBUTES]: { clearance: person.clearance },
  });
  const post = async (person: Person): Promise<void> => {
    ids.set(person.externalId, (await http.send('POST', '/Users', profile(person))).id);
  };
  const put = async (person: Person): Promise<void> => {
    await http.send('GET', url('Users', person.externalId));
    await http.send('PUT', url('Users', person.externalId), profile(person));
  };
  const patchGroup = async (group: Group, ...operations: object[]): Promise<void> => {
    await http.send('PATCH', url('Groups', group.key), patchOf(...operations));
  };
  const idp: SimulatedIdp = {
    connect: async () => {
      await http.send('GET', '/Users?startIndex=1&count=2');
      await http.send('GET', '/Groups?startIndex=1&count=100');
    },
    hire: async (person) => {
      await lookUp('Users', 'userName', person.userName);
      await post(person);
    },
    update: (_before, after) => put(after),
    leave: async ({ externalId }) => {
      await http.send(
        'PATCH',
        url('Users', externalId),
        patchOf({ op: 'replace', value: { active: false } }),
      );
    },
    // A POST with the previous externalId must update the existing user instead of creating a second one.
    comeBack: post,
    pushGroup: async (group) => {
      await lookUp('Groups', 'displayName', group.name);
      const body = { schemas: [CORE_GROUP], displayName: group.name, members: [] };
      ids.set(group.key, (await http.send('POST', '/Groups', body)).id);
      await idp.rename(group);
    },
    // Okta sends this with nearly every group push: no path, and the id within the value.
    rename: (group) =>
      patchGroup(group, { op: 'replace', value: { id: ids.of(group.key), displayName: group.name } }),
    addMembers: (group, people) => {
      const value = people.map(({ externalId, userName }) => ({
        value: ids.of(externalId),
        display: userName,
      }));
      return patchGroup(group, { op: 'add', path: 'members', value });
    },
    removeMembers: (group, people) =>
      patchGroup(
        group,
        ...people.map(({ externalId }) => ({
          op: 'remove',
          path: `members[value eq "${ids.of(externalId)}"]`,
        })),
      ),
    repeat: put,
  };
  return idp;
}
