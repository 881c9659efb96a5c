// Simulates Microsoft Entra ID: sends the requests that it really sends, including its deviations from the RFC.
import { randomUUID } from 'node:crypto';
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
  type Dialect,
  type SimulatedIdp,
} from './idp.ts';
import type { ScimHttp } from './scim-http.ts';

const ADSCIM_GROUP = 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group';

/** Returns Entra ID's mapped values by PATCH path. Numbers and booleans are sent as text. */
function entraPaths(person: Person): Record<string, string> {
  return {
    userName: person.userName,
    displayName: fullName(person),
    title: person.title,
    userType: userType(person),
    'name.givenName': person.givenName,
    'name.familyName': person.familyName,
    'name.formatted': fullName(person),
    'emails[type eq "work"].value': person.userName,
    'addresses[type eq "work"].country': person.country,
    [`${ENTERPRISE}:costCenter`]: costCenter(person),
    [`${CUBE_ATTRIBUTES}:clearance`]: String(person.clearance),
  };
}

/**
 * Creates Entra ID: it looks users up by externalId. In the `legacy` dialect it sends one operation per
 * attribute, with a capitalised `op`, and removes members by a list of values.
 */
export function createEntra(http: ScimHttp): SimulatedIdp {
  const ids = createIds();
  const url = (kind: string, key: string, dialect: Dialect = 'legacy'): string =>
    `/${kind}/${ids.of(key)}${dialect === 'scim' ? '?aadOptscim062020' : ''}`;
  const filter = (text: string): string => `filter=${encodeURIComponent(text).replaceAll('%20', '+')}`;
  const patchUser = async (person: Person, operations: object[], dialect?: Dialect): Promise<void> => {
    await http.send('PATCH', url('Users', person.externalId, dialect), patchOf(...operations));
  };
  const patchGroup = async (group: Group, operations: object[], dialect?: Dialect): Promise<void> => {
    await http.send('PATCH', url('Groups', group.key, dialect), patchOf(...operations));
  };
  const setActive = (person: Person, active: boolean, dialect?: Dialect): Promise<void> => {
    const operation =
      dialect === 'scim'
        ? { op: 'replace', value: { active } }
        : { op: 'Replace', path: 'active', value: active ? 'True' : 'False' };
    return patchUser(person, [operation], dialect);
  };
  const references = (people: Person[]): object[] =>
    people.map(({ externalId }) => ({ $ref: null, value: ids.of(externalId) }));
  const legacyReplace = (path: string, value: string): object => ({ op: 'Replace', path, value });
  const idp: SimulatedIdp = {
    connect: async () => {
      await http.send('GET', `/Users?${filter(`userName eq "${randomUUID()}"`)}`);
    },
    hire: async (person) => {
      await http.send('GET', `/Users?${filter(`externalId eq "${person.externalId}"`)}`);
      const { id } = await http.send('POST', '/Users', {
        // Entra ID does not list the custom URN in `schemas`.
        schemas: [CORE_USER, ENTERPRISE],
        externalId: person.externalId,
        userName: person.userName,
        active: true,
        displayName: fullName(person),
        title: person.title,
        userType: userType(person),
        nickName: null,
        name: { formatted: fullName(person), givenName: person.givenName, familyName: person.familyName },
        emails: [{ primary: true, type: 'work', value: person.userName }],
        addresses: [{ type: 'work', country: person.country }],
        meta: { resourceType: 'User' },
        roles: [],
        [ENTERPRISE]: { costCenter: costCenter(person) },
        [CUBE_ATTRIBUTES]: { clearance: String(person.clearance) },
      });
      ids.set(person.externalId, id);
    },
    update: (before, after, dialect) => {
      const old = entraPaths(before);
      const changed = Object.entries(entraPaths(after)).filter(([path, value]) => old[path] !== value);
      if (dialect !== 'scim') {
        return patchUser(
          after,
          changed.map(([path, value]) => legacyReplace(path, value)),
        );
      }
      // Simple attributes are merged into one operation; paths with a filter are separate operations.
      const merged = Object.fromEntries(changed.filter(([path]) => !path.includes('[')));
      const filtered = changed.filter(([path]) => path.includes('['));
      const single = filtered.map(([path, value]) => ({ op: 'replace', path, value }));
      return patchUser(after, [{ op: 'replace', value: merged }, ...single], dialect);
    },
    leave: (person, dialect) => setActive(person, false, dialect),
    comeBack: (person) => setActive(person, true),
    pushGroup: async (group) => {
      await http.send(
        'GET',
        `/Groups?excludedAttributes=members&${filter(`displayName eq "${group.name}"`)}`,
      );
      const { id } = await http.send('POST', '/Groups', {
        schemas: [CORE_GROUP, ADSCIM_GROUP],
        externalId: randomUUID(),
        displayName: group.name,
        meta: { resourceType: 'Group' },
      });
      ids.set(group.key, id);
    },
    rename: (group) => patchGroup(group, [{ op: 'Replace', path: 'displayName', value: group.name }]),
    addMembers: (group, people, dialect) =>
      patchGroup(
        group,
        [{ op: dialect === 'scim' ? 'add' : 'Add', path: 'members', value: references(people) }],
        dialect,
      ),
    removeMembers: (group, people, dialect) => {
      const single = people.map(({ externalId }) => ({
        op: 'remove',
        path: `members[value eq "${ids.of(externalId)}"]`,
      }));
      // A server that ignores `value` would remove all members of the group.
      const together = [{ op: 'Remove', path: 'members', value: references(people) }];
      return patchGroup(group, dialect === 'scim' ? single : together, dialect);
    },
    repeat: async (person) => {
      await patchUser(
        person,
        Object.entries(entraPaths(person)).map(([path, value]) => legacyReplace(path, value)),
      );
      await setActive(person, person.active);
    },
  };
  return idp;
}
