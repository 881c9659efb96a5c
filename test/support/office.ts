// Simulates a company with an operator: random pushes, drift at the platform, and random decisions about held changes.
import { byHand } from './by-hand.ts';
import { createRandom } from './company.ts';
import type { Place } from './situation.ts';

interface Person {
  id: string;
  userName: string;
  externalId: string;
  active: boolean;
  deleted: boolean;
  /** Value of the attribute `badge`. */
  badge: string | undefined;
}
interface Team {
  id: string;
  displayName: string;
  members: Set<Person>;
  deleted: boolean;
}
/** A difference between the source and the platform. `ids`: the resources of which one has to explain it. */
interface Difference {
  text: string;
  ids: string[];
}

const NAMES = ['ann', 'bob', 'cid', 'dan', 'eve', 'fay', 'gil', 'hal'].map(
  (name) => `${name}@office.example`,
);
const TEAMS = ['office-red', 'office-green', 'office-blue', 'office-white'];

/** Creates an office whose events depend on the seed alone, if each event is followed by `place.idle()`. */
export function createOffice(place: Place, seed: number) {
  const random = createRandom(seed);
  // The first numbers of this generator are alike for neighbouring seeds.
  for (let index = 0; index < 10; index++) random();
  const people: Person[] = [];
  const teams: Team[] = [];
  const diary: string[] = [];
  let serial = 0;
  let policyNow = 'sync';
  const chance = (share: number): boolean => random() < share;
  const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
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
    if (answer.status >= 300)
      throw new Error(
        `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}\n${diary.join('\n')}`,
      );
    return answer.body;
  }
  async function patch(path: string, ...Operations: object[]): Promise<void> {
    await push('PATCH', path, { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations });
  }

  async function hire(): Promise<string> {
    const userName = pick(freeNames());
    if (userName === undefined) return 'hires nobody';
    const former = people.findLast((person) => person.userName === userName && person.deleted);
    const externalId = former && chance(0.5) ? former.externalId : `ext-${++serial}`;
    const { id } = await push('POST', '/Users', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      ...{ userName, externalId, displayName: userName, active: true, nickName: 'old' },
    });
    if (former?.externalId === externalId) people.splice(people.indexOf(former), 1);
    people.push({ id, userName, externalId, active: true, deleted: false, badge: 'old' });
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
    teams.push({ id, displayName, members, deleted: false });
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
    await patch(path, { op: 'replace', path: 'displayName', value: displayName });
    return text;
  }

  const json = async (...args: string[]): Promise<any> => (await place.commands.run(...args, '--json')).json;

  async function decide(): Promise<string> {
    const lists: any[] = await json('approvals', 'list', '--all');
    const held = lists.find(({ state }) => state === 'held');
    const rejected = pick(
      lists.filter(({ state, stillRejected }) => state === 'rejected' && stillRejected > 0),
    );
    if (rejected && chance(0.3)) return order('withdraw', rejected.id);
    if (!held) return 'decides nothing';
    const { items } = await json('approvals', 'show', held.id);
    const one = pick(items as any[]);
    const part = chance(0.6) && one ? partWith(one) : [];
    return order(chance(0.6) ? 'approve' : 'reject', held.id, ...part);
  }
  function partWith(one: { kind: string; ref: string; member?: string }): string[] {
    const roll = random();
    if (roll < 0.4) return ['--kind', one.kind];
    return roll < 0.7 || !one.member ? ['--ref', one.ref] : ['--person', one.member];
  }
  async function order(...words: string[]): Promise<string> {
    const { code, text } = await place.commands.run('approvals', ...words, '--yes');
    return `approvals ${words.join(' ')} (${code}): ${text.split('\n')[0]}`;
  }

  async function drift(): Promise<string> {
    const { users, groups } = await place.platform.state();
    const ours = users.filter(({ userName }) => userName.endsWith('@office.example'));
    const user = pick(ours);
    if (!user) return 'nobody changes the platform';
    const group = pick(groups.filter(({ members }) => members.includes(user.userName)));
    if (group && chance(0.5)) {
      await byHand(place, 'PATCH', `/Groups/${group.scimId}`, {
        op: 'remove',
        path: `members[value eq "${user.id}"]`,
      });
      return `others take ${user.userName} out of ${group.displayName}`;
    }
    await byHand(place, 'PATCH', `/Users/${user.scimId}`, {
      op: 'replace',
      path: 'active',
      value: !user.active,
    });
    return `others set active of ${user.userName} to ${!user.active}`;
  }
  /** Restarts the bridge with other settings. */
  async function changeSettings(): Promise<string> {
    const person = pick(present());
    const isProtected = person !== undefined && chance(0.6);
    const policy = chance(0.3) ? 'upsert-only' : 'sync';
    await useSettings({ policy, users: { protected: isProtected ? [person.userName] : [] } });
    return `restarts with the policy ${policy}, protected: ${isProtected ? person.userName : 'nobody'}`;
  }
  async function useSettings(settings: { policy: string; users: object }): Promise<void> {
    policyNow = settings.policy;
    await place.change(({ targets: { main } }) => void Object.assign(main, settings));
  }

  async function live(): Promise<void> {
    const roll = random();
    const text = await (roll < 0.02
      ? changeSettings()
      : roll < 0.15
        ? hire()
        : roll < 0.25
          ? found()
          : roll < 0.45
            ? changePerson()
            : roll < 0.7
              ? changeTeam()
              : roll < 0.93
                ? decide()
                : drift());
    diary.push(text);
  }

  /** Compares the platform with the source. */
  async function differences(): Promise<Difference[]> {
    const { users, groups } = await place.platform.state();
    const found: Difference[] = [];
    const idsOf = (userName: string, externalId: string | null): string[] =>
      people
        .filter((each) => each.userName === userName || each.externalId === externalId)
        .map(({ id }) => id);
    const idsOfMember = (name: string): string[] =>
      idsOf(name, users.find(({ userName }) => userName === name)?.externalId ?? null);
    for (const person of present()) {
      const accounts = users.filter(({ externalId }) => externalId === person.externalId);
      const [account] = accounts;
      if (accounts.length > 1) found.push({ text: `${person.externalId} has two accounts`, ids: [] });
      const seen = account && `${account.userName} ${account.active}`;
      const wanted = `${person.userName} ${person.active}`;
      if (seen !== wanted && (account || person.active))
        found.push({ text: `account of ${person.id}: wanted ${wanted}, is ${seen}`, ids: [person.id] });
      const badge = (account?.attributes.badge ?? undefined) as string | undefined;
      if (account && badge !== person.badge)
        found.push({
          text: `badge of ${person.userName}: wanted ${person.badge}, is ${badge}`,
          ids: [person.id],
        });
    }
    for (const { userName, externalId, active, groups: of } of users) {
      if (!userName.endsWith('@office.example')) continue;
      const owner = present().find((person) => person.externalId === externalId);
      if (owner) continue;
      if (active)
        found.push({ text: `${userName} (${externalId}) is active`, ids: idsOf(userName, externalId) });
      const there = teams.filter(({ displayName }) => of.includes(displayName)).map(({ id }) => id);
      if (of.length > 0) {
        const ids = [...idsOf(userName, externalId), ...there];
        found.push({ text: `${userName} (${externalId}) is in ${of.join()}`, ids });
      }
    }
    for (const team of open()) {
      const group = groups.find(({ displayName }) => displayName === team.displayName);
      if (!group) {
        found.push({ text: `${team.displayName} (${team.id}) is missing`, ids: [team.id] });
        continue;
      }
      const wanted = [...team.members].map(({ userName }) => userName);
      for (const name of wanted)
        if (!group.members.includes(name))
          found.push({
            text: `${name} is not in ${team.displayName}`,
            ids: [team.id, ...idsOfMember(name)],
          });
      for (const name of group.members)
        if (!wanted.includes(name))
          found.push({
            text: `${name} is in ${team.displayName}`,
            ids: [team.id, ...idsOfMember(name)],
          });
    }
    for (const { displayName, members } of groups) {
      if (!displayName.startsWith('office-') || open().some((team) => team.displayName === displayName))
        continue;
      const former = teams.filter((team) => team.displayName === displayName).map(({ id }) => id);
      found.push({ text: `${displayName} is still there`, ids: former });
      for (const name of members)
        found.push({ text: `${name} is still in ${displayName}`, ids: [...former, ...idsOfMember(name)] });
    }
    return found;
  }

  /** Returns the resources of which the guard may hold something although nothing differs: a new team waits for a former one. */
  async function behindFormer(): Promise<Set<string>> {
    const { users, groups } = await place.platform.state();
    const waiting = new Set<string>();
    for (const { id, displayName } of teams.filter(({ deleted }) => deleted)) {
      if (!open().some((team) => team.displayName === displayName)) continue;
      waiting.add(id);
      const members = groups.find((group) => group.displayName === displayName)?.members ?? [];
      for (const { userName, externalId } of users.filter((user) => members.includes(user.userName)))
        for (const person of people)
          if (person.userName === userName || person.externalId === externalId) waiting.add(person.id);
    }
    return waiting;
  }

  return {
    people,
    teams,
    diary,
    hire,
    found,
    live,
    differences,
    behindFormer,
    useSettings,
    order,
    json,
    policy: () => policyNow,
  };
}
