// Simulates the identity provider of an office: random pushes of people and groups.
import type { Place } from '../situation.ts';
import type { Dice } from './dice.ts';

export interface Person {
  id: string;
  userName: string;
  externalId: string;
  active: boolean;
  deleted: boolean;
  /** Whether an operator removed what the bridge keeps of the person. */
  forgotten: boolean;
  /** Whether the person was hired again after that: memberships of the former person stay. */
  cameBack: boolean;
  /** Value of the attribute `badge`. */
  badge: string | undefined;
}
export interface Team {
  id: string;
  displayName: string;
  /** All names, because the platform may still have a former one. */
  names: string[];
  members: Set<Person>;
  deleted: boolean;
}
const NAMES = ['ann', 'bob', 'cid', 'dan', 'eve', 'fay', 'gil', 'hal'].map(
  (name) => `${name}@office.example`,
);
const TEAMS = ['office-red', 'office-green', 'office-blue', 'office-white'];

export type Source = ReturnType<typeof createSource>;

/**
 * Returns an identity provider with people and teams that change at random.
 * @param place the bridge to which it pushes; a push is repeated until it is answered, so a test may kill the bridge meanwhile
 */
export function createSource(place: Place, { random, chance, pick }: Dice, diary: readonly string[]) {
  const people: Person[] = [];
  const teams: Team[] = [];
  let serial = 0;
  const some = (share: number): Person[] => present().filter(() => chance(share));
  const present = (): Person[] => people.filter(({ deleted }) => !deleted);
  const open = (): Team[] => teams.filter(({ deleted }) => !deleted);
  const freeNames = (): string[] =>
    NAMES.filter((name) => !present().some(({ userName }) => userName === name));
  const freeTeams = (): string[] =>
    TEAMS.filter((name) => !open().some(({ displayName }) => displayName === name));
  const values = (members: Iterable<Person>) => [...members].map(({ id }) => ({ value: id }));

  async function push(method: string, path: string, body?: object): Promise<any> {
    const answer = await place.idp.send(method, path, body);
    // The bridge may have been killed between the change and its answer.
    if (answer.status === 409 && method === 'POST') return existing(path, body);
    if (answer.status >= 300 && !(answer.status === 404 && method === 'DELETE'))
      throw new Error(
        `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}\n${diary.join('\n')}`,
      );
    return answer.body;
  }
  async function existing(path: string, { userName, displayName }: any): Promise<any> {
    const filter = userName ? `userName eq "${userName}"` : `displayName eq "${displayName}"`;
    const { body } = await place.idp.send('GET', `${path}?filter=${encodeURIComponent(filter)}`);
    return body.Resources[0];
  }
  async function patch(path: string, ...Operations: object[]): Promise<void> {
    await push('PATCH', path, { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations });
  }

  async function hire(): Promise<string> {
    const userName = pick(freeNames());
    if (userName === undefined) return 'hires nobody';
    const former = people.findLast((person) => person.userName === userName && person.deleted);
    // An operator forgot the former person, so the bridge cannot give the name to another one.
    const externalId = former && (former.forgotten || chance(0.5)) ? former.externalId : `ext-${++serial}`;
    const { id } = await push('POST', '/Users', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      ...{ userName, externalId, displayName: userName, active: true, nickName: 'old' },
    });
    if (former?.externalId === externalId) people.splice(people.indexOf(former), 1);
    people.push({
      id,
      userName,
      externalId,
      active: true,
      deleted: false,
      forgotten: false,
      cameBack: former?.forgotten === true,
      badge: 'old',
    });
    return `hires ${userName} (${externalId}, ${id})`;
  }
  async function found(): Promise<string> {
    const displayName = pick(freeTeams());
    if (displayName === undefined) return 'founds nothing';
    const members = new Set(some(0.5));
    const { id } = await push('POST', '/Groups', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      ...{ displayName, members: values(members) },
    });
    teams.push({ id, displayName, names: [displayName], members, deleted: false });
    return `founds ${displayName} (${id}) of ${namesOf(members)}`;
  }
  const namesOf = (members: Iterable<Person>): string => [...members].map(({ userName }) => userName).join();

  async function changePerson(): Promise<string> {
    const person = pick(present());
    if (!person) return hire();
    const path = `/Users/${person.id}`;
    const roll = random();
    if (roll < 0.15) {
      person.badge = chance(0.5) ? `badge-${++serial}` : undefined;
      const { badge } = person;
      await patch(
        path,
        badge ? { op: 'replace', path: 'nickName', value: badge } : { op: 'remove', path: 'nickName' },
      );
      return `sets the badge of ${person.userName} to ${badge}`;
    }
    if (roll < 0.45) {
      person.active = !person.active;
      await patch(path, { op: 'replace', path: 'active', value: person.active });
      return `sets active of ${person.userName} to ${person.active}`;
    }
    if (roll < 0.75) {
      await push('DELETE', path);
      person.deleted = true;
      for (const { members } of teams) members.delete(person);
      return `deletes ${person.userName}`;
    }
    // A name of a former person would be a conflict that a person has to resolve at the platform.
    const userName = `renamed${++serial}@office.example`;
    const text = `renames ${person.userName} to ${userName}`;
    person.userName = userName;
    await patch(path, { op: 'replace', path: 'userName', value: userName });
    return text;
  }
  async function changeTeam(): Promise<string> {
    const team = pick(open());
    if (!team) return found();
    const path = `/Groups/${team.id}`;
    const roll = random();
    if (roll < 0.25) {
      const joining = some(0.4);
      for (const person of joining) team.members.add(person);
      await patch(path, { op: 'add', path: 'members', value: values(joining) });
      return `adds ${namesOf(joining)} to ${team.displayName}`;
    }
    if (roll < 0.6) {
      const leaving = [...team.members].filter(() => chance(0.4));
      for (const person of leaving) team.members.delete(person);
      for (const { id } of leaving) await patch(path, { op: 'remove', path: `members[value eq "${id}"]` });
      return `takes ${namesOf(leaving)} out of ${team.displayName}`;
    }
    if (roll < 0.85) {
      await push('DELETE', path);
      team.deleted = true;
      return `deletes ${team.displayName}`;
    }
    const displayName = `office-${++serial}`;
    const text = `renames ${team.displayName} to ${displayName}`;
    team.displayName = displayName;
    team.names.push(displayName);
    await patch(path, { op: 'replace', path: 'displayName', value: displayName });
    return text;
  }

  return { people, teams, present, open, hire, found, changePerson, changeTeam };
}
