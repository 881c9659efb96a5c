// Compares the platform with the source of an office.
import type { Place } from '../situation.ts';
import type { Source } from './source.ts';

/** A difference between the source and the platform. `ids`: the resources of which one has to explain it. */
export interface Difference {
  text: string;
  ids: string[];
}

export function createTruth(place: Place, { people, teams, present, open }: Source) {
  /** Compares the platform with the source. */
  async function differences(): Promise<Difference[]> {
    const { users, groups } = await place.platform.state();
    const found: Difference[] = [];
    const idsOf = (userName: string, externalId: string | null): string[] =>
      people
        .filter((each) => each.userName === userName || each.externalId === externalId)
        .map(({ id }) => id);
    /** Returns whether an operator forgot the person of an account: the bridge then leaves the account in its groups. */
    const isUnmanaged = (name: string): boolean => {
      const externalId = users.find(({ userName }) => userName === name)?.externalId;
      const owner = people.findLast((person) => person.externalId === externalId);
      return owner !== undefined && (owner.forgotten || owner.cameBack);
    };
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
      const owner = people.findLast((person) => person.externalId === externalId);
      // The present people are compared above; accounts of forgotten people stay as they are.
      if (owner && (!owner.deleted || owner.forgotten)) continue;
      if (active)
        found.push({ text: `${userName} (${externalId}) is active`, ids: idsOf(userName, externalId) });
      const there = teams.filter(({ names }) => names.some((name) => of.includes(name))).map(({ id }) => id);
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
        if (!wanted.includes(name) && !isUnmanaged(name))
          found.push({
            text: `${name} is in ${team.displayName}`,
            ids: [team.id, ...idsOfMember(name)],
          });
    }
    for (const { displayName, members } of groups) {
      if (!displayName.startsWith('office-') || open().some((team) => team.displayName === displayName))
        continue;
      const former = teams.filter(({ names }) => names.includes(displayName)).map(({ id }) => id);
      found.push({ text: `${displayName} is still there`, ids: former });
      for (const name of members)
        if (!isUnmanaged(name))
          found.push({ text: `${name} is still in ${displayName}`, ids: [...former, ...idsOfMember(name)] });
    }
    return found;
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
