// Simulates two identity providers: sends the requests that Okta and Microsoft Entra ID really send, including
// their deviations from the RFC.
import { randomBytes, randomUUID } from 'node:crypto';
import { fullName, type Group, type Person } from './company.ts';
import type { ScimHttp } from './scim-http.ts';

/** Entra ID's default form of PATCH, and the form that `?aadOptscim062020` in the tenant URL selects. */
export type Dialect = 'legacy' | 'scim';

/** An identity provider; each method sends the requests of one event and throws when one is refused. */
export interface SimulatedIdp {
  /** Sends the requests of the button "test connection". */
  connect(): Promise<void>;
  /** Looks the user up, then creates it. */
  hire(person: Person): Promise<void>;
  /** Sends changed values of a user. */
  update(before: Person, after: Person, dialect?: Dialect): Promise<void>;
  /** Deactivates the user. */
  leave(person: Person, dialect?: Dialect): Promise<void>;
  /** Activates a user who left before. */
  comeBack(person: Person): Promise<void>;
  /** Creates the group without members. */
  pushGroup(group: Group): Promise<void>;
  /** Sends the name that the group has now. */
  rename(group: Group): Promise<void>;
  addMembers(group: Group, people: Person[], dialect?: Dialect): Promise<void>;
  removeMembers(group: Group, people: Person[], dialect?: Dialect): Promise<void>;
  /** Sends the current values of a user again. */
  repeat(person: Person): Promise<void>;
}

const CORE_USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const CORE_GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const ATTRIBUTES = 'urn:cube:params:1.0:UserAttribute';
const PATCH_OP = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const ADSCIM_GROUP = 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group';

const userType = ({ contractor }: Person): string => (contractor ? 'Contractor' : 'Employee');
const costCenter = ({ budgets }: Person): string => budgets.join(';');
const patchOf = (...Operations: object[]): object => ({ schemas: [PATCH_OP], Operations });

/** Stores the ids that the bridge assigned: provider's id → SCIM id. */
function createIds(): { set(key: string, id: string): void; of(key: string): string } {
  const ids = new Map<string, string>();
  return { set: (key, id) => void ids.set(key, id), of: (key) => ids.get(key) ?? '' };
}

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
    schemas: [CORE_USER, ENTERPRISE, ATTRIBUTES],
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
    [ATTRIBUTES]: { clearance: person.clearance },
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
    [`${ATTRIBUTES}:clearance`]: String(person.clearance),
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
        [ATTRIBUTES]: { clearance: String(person.clearance) },
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
  const references = (people: Person[]): object[] =>
    people.map(({ externalId }) => ({ $ref: null, value: ids.of(externalId) }));
  return idp;
}
