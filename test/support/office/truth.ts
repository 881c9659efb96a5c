// Compares the platform with the source of an office.
import type { Place } from '../situation.ts';
import type { Source } from './source.ts';

/** A difference between the source and the platform. `ids`: the resources of which one has to explain it. */
export interface Difference {
  text: string;
  ids: string[];
}

export function createTruth(place: Place, { people, teams, present, open }: Source) {
  type PlatformState = Awaited<ReturnType<Place['platform']['state']>>;

  const idsOfPerson = (userName: string, externalId: string | null): string[] =>
    people.filter((each) => each.userName === userName || each.externalId === externalId).map(({ id }) => id);
  const externalIdOf = ({ users }: PlatformState, name: string): string | null =>
    users.find(({ userName }) => userName === name)?.externalId ?? null;
  const idsOfMember = (state: PlatformState, name: string): string[] =>
    idsOfPerson(name, externalIdOf(state, name));
  /** Returns whether an operator forgot the person of an account: the bridge then leaves the account in its groups. */
  const isUnmanaged = (state: PlatformState, name: string): boolean => {
    const owner = people.findLast((person) => person.externalId === externalIdOf(state, name));
    return owner !== undefined && (owner.forgotten || owner.cameBack);
  };

  /** Compares the present people with their accounts. */
  function differencesOfPeople({ users }: PlatformState): Difference[] {
    const found: Difference[] = [];
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
    return found;
  }

  /** Returns accounts of former people that are active or in a group. Accounts of forgotten people stay as they are. */
  function differencesOfFormerPeople({ users }: PlatformState): Difference[] {
    const found: Difference[] = [];
    for (const { userName, externalId, active, groups: names } of users) {
      if (!userName.endsWith('@office.example')) continue;
      const owner = people.findLast((person) => person.externalId === externalId);
      if (owner && (!owner.deleted || owner.forgotten)) continue;
      const ids = idsOfPerson(userName, externalId);
      if (active) found.push({ text: `${userName} (${externalId}) is active`, ids });
      if (names.length === 0) continue;
      const teamIds = teams
        .filter((team) => team.names.some((name) => names.includes(name)))
        .map(({ id }) => id);
      found.push({ text: `${userName} (${externalId}) is in ${names.join()}`, ids: [...ids, ...teamIds] });
    }
    return found;
  }

  /** Compares the open teams with their groups. */
  function differencesOfTeams(state: PlatformState): Difference[] {
    const found: Difference[] = [];
    for (const team of open()) {
      const group = state.groups.find(({ displayName }) => displayName === team.displayName);
      if (!group) found.push({ text: `${team.displayName} (${team.id}) is missing`, ids: [team.id] });
      const members = group?.members ?? [];
      const wanted = [...team.members].map(({ userName }) => userName);
      const missing = wanted.filter((name) => !members.includes(name));
      const surplus = members.filter((name) => !wanted.includes(name) && !isUnmanaged(state, name));
      const note = (name: string, is: string): void =>
        void found.push({
          text: `${name} ${is} in ${team.displayName}`,
          ids: [team.id, ...idsOfMember(state, name)],
        });
      for (const name of missing) note(name, 'is not');
      for (const name of surplus) note(name, 'is');
    }
    return found;
  }

  /** Returns groups of former teams, and their members. */
  function differencesOfFormerTeams(state: PlatformState): Difference[] {
    const found: Difference[] = [];
    for (const { displayName, members } of state.groups) {
      if (!displayName.startsWith('office-') || open().some((team) => team.displayName === displayName))
        continue;
      const former = teams.filter(({ names }) => names.includes(displayName)).map(({ id }) => id);
      found.push({ text: `${displayName} is still there`, ids: former });
      for (const name of members)
        if (!isUnmanaged(state, name))
          found.push({
            text: `${name} is still in ${displayName}`,
            ids: [...former, ...idsOfMember(state, name)],
          });
    }
    return found;
  }

  /** Compares the platform with the source. */
  async function differences(): Promise<Difference[]> {
    const state = await place.platform.state();
    return [
      ...differencesOfPeople(state),
      ...differencesOfFormerPeople(state),
      ...differencesOfTeams(state),
      ...differencesOfFormerTeams(state),
    ];
  }

  /**
   * Returns the deleted teams whose name another team has now, and their members at the platform. The guard may hold changes of
   * these although nothing differs, because the other team takes over the group.
   */
  async function behindFormer(): Promise<Set<string>> {
    const { users, groups } = await place.platform.state();
    const waiting = new Set<string>();
    for (const { id, names } of teams.filter(({ deleted }) => deleted)) {
      const displayName = open().find((team) => names.includes(team.displayName))?.displayName;
      if (displayName === undefined) continue;
      waiting.add(id);
      const members = groups.find((group) => group.displayName === displayName)?.members ?? [];
      for (const { userName, externalId } of users.filter((user) => members.includes(user.userName)))
        for (const person of people)
          if (person.userName === userName || person.externalId === externalId) waiting.add(person.id);
    }
    return waiting;
  }

  return { differences, behindFormer };
}
