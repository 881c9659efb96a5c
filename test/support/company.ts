// Simulates a company: random pushes as Okta and Entra send them, and the expected state at the platform.
import type { Idp, IdpAnswer } from './idp.ts';
import type { PlatformView } from './platform-view.ts';

export interface Person {
  id: string;
  userName: string;
  externalId: string;
  active: boolean;
  country: string;
  clearance: number;
  deleted: boolean;
}

export interface Team {
  id: string;
  displayName: string;
  members: Set<Person>;
  deleted: boolean;
}

/** Creates a small seeded generator: the same seed gives the same events. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Pause before a push is repeated. */
const REPEAT_MS = 25;
/**
 * Time after which a failed connection is an error, longer than a start of the bridge (bridge-process.ts). A push that gets 503 is
 * repeated without limit.
 */
const LONGEST_OUTAGE_MS = 60_000;
const COUNTRIES = ['PT', 'DE', 'FR', 'JP', 'BR'];
const EXTENSION = 'urn:cube:params:1.0:UserAttribute';

export const companyAttributes = {
  country: { type: 'string', from: 'addresses[type eq "work"].country' },
  clearance: { type: 'number', from: `${EXTENSION}:clearance` },
  contractor: { type: 'boolean', expression: 'userType = "Contractor"' },
};

/** @param idp client whose requests are repeated until they are answered, as identity providers do */
export function createCompany(idp: Idp, random: () => number) {
  const people: Person[] = [];
  const teams: Team[] = [];
  let serial = 0;
  const pick = <T>(items: T[]): T | undefined => items[Math.floor(random() * items.length)];
  const alive = (): Person[] => people.filter((person) => !person.deleted);
  const open = (): Team[] => teams.filter((team) => !team.deleted);

  async function send(method: string, path: string, body?: object): Promise<IdpAnswer> {
    const startedAt = Date.now();
    for (;;) {
      try {
        const answer = await idp.send(method, path, body);
        if (answer.status !== 503) return answer;
      } catch (error) {
        if (Date.now() - startedAt > LONGEST_OUTAGE_MS) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, REPEAT_MS));
    }
  }

  /**
   * Creates a resource and returns its id. An attempt without an answer may have been executed: the next one then answers 409,
   * and a filter finds the resource.
   */
  async function post(path: string, body: object, attribute: string, value: string): Promise<string> {
    const answer = await send('POST', path, body);
    if (answer.status === 201) return answer.body.id as string;
    if (answer.status !== 409)
      throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    const filter = encodeURIComponent(`${attribute} eq ${JSON.stringify(value)}`);
    const found = await send('GET', `${path}?filter=${filter}`);
    return found.body.Resources[0].id as string;
  }

  async function write(method: string, path: string, body?: object): Promise<void> {
    const answer = await send(method, path, body);
    const isAccepted = answer.status < 300 || (method === 'DELETE' && answer.status === 404);
    if (!isAccepted) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  const patch = (path: string, ...Operations: object[]): Promise<void> =>
    write('PATCH', path, { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations });

  const userBody = (person: Omit<Person, 'id'>): object => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: person.userName,
    externalId: person.externalId,
    displayName: `Name of ${person.externalId}`,
    name: { givenName: 'Given', familyName: person.externalId },
    emails: [{ value: person.userName, type: 'work', primary: true }],
    addresses: [{ type: 'work', country: person.country }],
    active: person.active,
    [EXTENSION]: { clearance: person.clearance },
    // Okta sends these two; the bridge ignores them.
    password: 'Random-1',
    groups: [],
  });

  async function hire(): Promise<void> {
    const number = ++serial;
    const former = people.filter((person) => person.deleted);
    // Sometimes a former user is created again under the same name and source id.
    const again =
      random() < 0.3
        ? pick(former.filter(({ userName }) => !alive().some((other) => other.userName === userName)))
        : undefined;
    const person = {
      userName: again?.userName ?? `p${number}@acme.example`,
      externalId: again?.externalId ?? `src-${number}`,
      active: true,
      country: pick(COUNTRIES) ?? 'PT',
      clearance: Math.floor(random() * 5),
      deleted: false,
    };
    const id = await post('/Users', userBody(person), 'userName', person.userName);
    if (again) people.splice(people.indexOf(again), 1);
    people.push({ ...person, id });
  }

  async function change(person: Person): Promise<void> {
    const path = `/Users/${person.id}`;
    const roll = random();
    if (roll < 0.25) {
      person.country = pick(COUNTRIES) ?? 'PT';
      await patch(path, { op: 'Replace', path: 'addresses[type eq "work"].country', value: person.country });
    } else if (roll < 0.45) {
      person.clearance = Math.floor(random() * 5);
      await patch(path, { op: 'Add', path: `${EXTENSION}:clearance`, value: person.clearance });
    } else if (roll < 0.6) {
      person.active = !person.active;
      const okta = { op: 'replace', value: { active: person.active } };
      const entra = { op: 'Replace', path: 'active', value: person.active ? 'True' : 'False' };
      await patch(path, random() < 0.5 ? okta : entra);
    } else if (roll < 0.7) {
      const userName = `renamed${++serial}@acme.example`;
      person.userName = userName;
      await patch(path, { op: 'replace', value: { userName, 'emails[type eq "work"].value': userName } });
    } else if (roll < 0.8) {
      await write('PUT', path, userBody(person));
    } else if (roll < 0.88) {
      await write('DELETE', path);
      person.deleted = true;
      for (const team of teams) team.members.delete(person);
    } else await hire();
  }

  async function reorganise(team: Team): Promise<void> {
    const path = `/Groups/${team.id}`;
    const roll = random();
    const some = alive().filter(() => random() < 0.2);
    const value = some.map(({ id }) => ({ value: id, $ref: null }));
    if (roll < 0.4 && some.length > 0) {
      for (const person of some) team.members.add(person);
      await patch(path, { op: 'Add', path: 'members', value });
    } else if (roll < 0.6 && some.length > 0) {
      for (const person of some) team.members.delete(person);
      if (random() < 0.5) await patch(path, { op: 'Remove', path: 'members', value });
      else await patch(path, ...some.map(({ id }) => ({ op: 'remove', path: `members[value eq "${id}"]` })));
    } else if (roll < 0.75) {
      team.members = new Set(some);
      await write('PUT', path, { displayName: team.displayName, members: value });
    } else if (roll < 0.85) {
      team.displayName = `team ${++serial}`;
      await patch(path, { op: 'replace', value: { id: team.id, displayName: team.displayName } });
    } else if (roll < 0.9 && open().length > 2) {
      await write('DELETE', path);
      team.deleted = true;
    } else await createTeam();
  }

  async function createTeam(): Promise<void> {
    const displayName = `team ${++serial}`;
    const members = alive().filter(() => random() < 0.2);
    const body = {
      displayName,
      externalId: `grp-${serial}`,
      members: members.map(({ id }) => ({ value: id })),
    };
    const id = await post('/Groups', body, 'displayName', displayName);
    teams.push({ id, displayName, members: new Set(members), deleted: false });
  }

  /** Makes one random change in the company. Changes of different users and groups may run concurrently. */
  async function live(): Promise<void> {
    const team = pick(open());
    const person = pick(alive());
    if (team && random() < 0.3) await reorganise(team);
    else if (person) await change(person);
  }

  /** Returns the differences at the platform; empty when it equals the company. */
  async function differences(platform: PlatformView): Promise<string[]> {
    const { users, groups } = await platform.state();
    const faults: string[] = [];
    const sources = new Set(people.map(({ externalId }) => externalId));
    for (const { externalId, userName } of users)
      if (externalId?.startsWith('src-') && !sources.has(externalId)) faults.push(`${userName} is left over`);
    for (const person of people) {
      const found = users.filter(({ externalId }) => externalId === person.externalId);
      const [user] = found;
      if (found.length > 1) faults.push(`${person.externalId} exists ${found.length} times`);
      if (person.deleted) {
        if (user?.active) faults.push(`${person.externalId} left but is active`);
        if (user && user.groups.length > 0)
          faults.push(`${person.externalId} left but is in ${user.groups.join()}`);
        continue;
      }
      if (!user) {
        faults.push(`${person.externalId} is missing`);
        continue;
      }
      const wanted = {
        userName: person.userName,
        active: person.active,
        country: person.country,
        clearance: person.clearance,
        contractor: false,
      };
      const seen = {
        userName: user.userName,
        active: user.active,
        country: user.attributes.country,
        clearance: user.attributes.clearance,
        contractor: user.attributes.contractor,
      };
      if (JSON.stringify(wanted) !== JSON.stringify(seen)) {
        faults.push(`${person.externalId}: wanted ${JSON.stringify(wanted)}, is ${JSON.stringify(seen)}`);
      }
    }
    for (const team of teams) {
      const found = groups.filter(({ displayName }) => displayName === team.displayName);
      if (team.deleted) {
        if (found.length > 0) faults.push(`${team.displayName} is deleted but there`);
        continue;
      }
      if (found.length !== 1) faults.push(`${team.displayName} exists ${found.length} times`);
      const wanted = [...team.members].map(({ userName }) => userName).sort();
      const seen = [...(found[0]?.members ?? [])].sort();
      if (wanted.join() !== seen.join())
        faults.push(`${team.displayName}: wanted ${wanted.join()}, is ${seen.join()}`);
    }
    const names = groups.map(({ displayName }) => displayName);
    const wantedNames = open().map(({ displayName }) => displayName);
    for (const name of names)
      if (name.startsWith('team ') && !wantedNames.includes(name)) faults.push(`${name} is left over`);
    return faults;
  }

  return { people, teams, hire, createTeam, live, differences };
}

/**
 * Checks the platform's log: accounts are created inactive, and activated after the boolean attribute of the account
 * was written (texts and whole numbers are part of the create request).
 */
export async function prematureActivations(platform: PlatformView): Promise<string[]> {
  const [calls, { users }] = await Promise.all([platform.requests(), platform.state()]);
  const accountOf = new Map(users.map(({ id, scimId }) => [scimId, String(id)]));
  const valued = new Set<string>();
  const faults: string[] = [];
  // A call without a body in the log did not reach the platform's code.
  for (const { method, path, body } of calls.filter((call) => call.body)) {
    if (path.endsWith('/user-attribute-values')) valued.add(String(body.userId));
    if (method === 'POST' && path.endsWith('/scim/v2/Users') && body.active !== false) {
      faults.push(`created active: ${JSON.stringify(body)}`);
    }
    const activates = (body.Operations ?? []).some((one: any) => one.path === 'active' && one.value === true);
    const account = accountOf.get(path.split('/').at(-1) ?? '');
    if (activates && account !== undefined && !valued.has(account))
      faults.push(`active before its attributes: ${path}`);
  }
  return faults;
}
