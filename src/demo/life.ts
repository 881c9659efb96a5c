// Defines the changes in the company after the first day: each has a title, and a function that returns the company afterwards.
import { fullName, userNameOf, type Company, type Group, type Person } from './company.ts';
import type { Dialect } from './idp.ts';

export interface LifeEvent {
  title: string;
  /** Form of Entra ID's PATCH; the story uses both forms. */
  dialect?: Dialect;
  change(company: Company): Company;
}

/** The changes of the story, in order. */
export const STORY: readonly LifeEvent[] = [
  {
    title: 'Amara Okafor is promoted: clearance 2 → 4, two more budgets',
    change: edit('Amara Okafor', { title: 'Lead Analyst', clearance: 4, budgets: [4100, 4200, 4300] }),
  },
  {
    title: 'Clara Lindgren relocates: country SE → NO',
    change: edit('Clara Lindgren', { country: 'NO' }),
  },
  {
    title: 'Noah Fischer moves from region-us to region-emea',
    change: move('Noah Fischer', 'region-us', 'region-emea'),
  },
  {
    title: 'Hanna Weber moves from region-dach to region-nord',
    change: move('Hanna Weber', 'region-dach', 'region-nord'),
  },
  {
    title: 'Freya Solberg moves from region-nord to region-dach',
    dialect: 'scim',
    change: move('Freya Solberg', 'region-nord', 'region-dach'),
  },
  {
    title: 'Ida Sørensen marries and is now Ida Berg',
    dialect: 'scim',
    change: edit('Ida Sørensen', { familyName: 'Berg', userName: userNameOf('entra', 'Ida', 'Berg') }),
  },
  {
    title: "region-us becomes region-amer, and its people's regions follow",
    change: (company) => editGroup(company, 'region-us', (group) => ({ ...group, name: 'region-amer' })),
  },
  { title: 'Farid Haddad leaves acme', change: edit('Farid Haddad', { active: false }) },
  { title: 'Georg Steiner leaves nordwind', change: edit('Georg Steiner', { active: false }) },
  {
    title: 'Jonas Keller goes on parental leave',
    dialect: 'scim',
    change: edit('Jonas Keller', { active: false }),
  },
  {
    title: 'Farid Haddad is hired again, no longer a contractor',
    change: edit('Farid Haddad', {
      active: true,
      contractor: false,
      title: 'Logistics Planner',
      clearance: 2,
    }),
  },
];

/** Changes the attribute that decides which rows the user sees (access.ts). */
export const RELOCATION: LifeEvent = {
  title: 'Luca Ferri, analyst, relocates: country IT → DE',
  change: edit('Luca Ferri', { country: 'DE' }),
};
/** Deactivates a user who is reading an answer of the chat (access.ts). */
export const DEPARTURE: LifeEvent = {
  title: 'Hugo Martins leaves acme in the middle of an answer',
  change: edit('Hugo Martins', { active: false }),
};

/** Returns one small change for every active user, so that the timings have more samples. */
export function reviews(company: Company): LifeEvent[] {
  return company.people
    .filter(({ active }) => active)
    .map((person) => ({
      title: `Review of ${fullName(person)}`,
      change: edit(fullName(person), { clearance: person.clearance === 5 ? 4 : person.clearance + 1 }),
    }));
}

/** Returns the change of a user. @param name full name of the user */
function edit(name: string, changes: Partial<Person>): LifeEvent['change'] {
  return (company) => ({
    ...company,
    people: company.people.map((person) => (fullName(person) === name ? { ...person, ...changes } : person)),
  });
}

function editGroup(company: Company, key: string, change: (group: Group) => Group): Company {
  return { ...company, groups: company.groups.map((group) => (group.key === key ? change(group) : group)) };
}

/** Returns the move of a user between groups. @param name full name of the user @param from key of a group, as `to` */
function move(name: string, from: string, to: string): LifeEvent['change'] {
  return (company) => {
    const id = company.people.find((person) => fullName(person) === name)?.externalId ?? '';
    const withoutMember = editGroup(company, from, (group) => ({
      ...group,
      members: group.members.filter((member) => member !== id),
    }));
    return editGroup(withoutMember, to, (group) => ({ ...group, members: [...group.members, id] }));
  };
}
