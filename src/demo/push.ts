// Sends the changes between two states of the company through its identity providers.
import type { Company, Group, Idp, Person } from './company.ts';
import type { Dialect, SimulatedIdp } from './idp.ts';

export type Providers = Record<Idp, SimulatedIdp>;

/** Sends the first push of a provider: connection test, then all users, then all groups with their members. */
export async function pushEverything(provider: SimulatedIdp, company: Company, idp: Idp): Promise<void> {
  await provider.connect();
  for (const person of company.people) if (person.idp === idp) await provider.hire(person);
  for (const group of company.groups) {
    if (group.idp !== idp) continue;
    await provider.pushGroup(group);
    await provider.addMembers(group, membersOf(company, group));
  }
}

/** Pushes the changes between two states. Resolves when the last request is answered. */
export async function pushChanges(
  providers: Providers,
  before: Company,
  after: Company,
  dialect?: Dialect,
): Promise<void> {
  for (const [index, group] of after.groups.entries()) {
    const old = before.groups[index] ?? group;
    const gone = old.members.filter((member) => !group.members.includes(member));
    const added = group.members.filter((member) => !old.members.includes(member));
    if (group.name !== old.name) await providers[group.idp].rename(group);
    if (gone.length > 0) await providers[group.idp].removeMembers(group, peopleWithIds(after, gone), dialect);
    if (added.length > 0) await providers[group.idp].addMembers(group, peopleWithIds(after, added), dialect);
  }
  for (const [index, person] of after.people.entries()) {
    const old = before.people[index] ?? person;
    if (person !== old) await pushPerson(providers[person.idp], old, person, dialect);
  }
}

/** Pushes every resource again without changes. */
export async function pushAgain(providers: Providers, company: Company): Promise<void> {
  for (const person of company.people) await providers[person.idp].repeat(person);
  for (const group of company.groups) {
    await providers[group.idp].rename(group);
    await providers[group.idp].addMembers(group, membersOf(company, group));
  }
}

function pushPerson(provider: SimulatedIdp, before: Person, after: Person, dialect?: Dialect): Promise<void> {
  if (before.active && !after.active) return provider.leave(after, dialect);
  if (!before.active && after.active) return provider.comeBack(after);
  return provider.update(before, after, dialect);
}

const membersOf = (company: Company, group: Group): Person[] => peopleWithIds(company, group.members);

const peopleWithIds = (company: Company, ids: readonly string[]): Person[] =>
  company.people.filter(({ externalId }) => ids.includes(externalId));
