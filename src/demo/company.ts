// Defines the company of the demo: acme, which pushes through Okta, and nordwind, a subsidiary that pushes through Entra ID.
import { createHash } from 'node:crypto';

export type Idp = 'okta' | 'entra';

export interface Person {
  /** Id of the identity provider; it does not change. */
  readonly externalId: string;
  readonly idp: Idp;
  readonly givenName: string;
  readonly familyName: string;
  readonly userName: string;
  readonly title: string;
  readonly country: string;
  readonly clearance: number;
  readonly contractor: boolean;
  /** Cost centres whose figures this user may see. */
  readonly budgets: readonly number[];
  readonly active: boolean;
}

export interface Group {
  /** Stable id; a rename does not change it. */
  readonly key: string;
  readonly idp: Idp;
  readonly name: string;
  /** externalIds of the members. */
  readonly members: readonly string[];
}

export interface Company {
  readonly people: readonly Person[];
  readonly groups: readonly Group[];
}

/** One person as a row of the tables below. */
type PersonRow = readonly [
  name: string,
  title: string,
  country: string,
  clearance: number,
  budgets: readonly number[],
  groups: readonly string[],
];

const OKTA: readonly PersonRow[] = [
  ['Amara Okafor', 'Data Analyst', 'PT', 2, [4100], ['analysts', 'region-emea']],
  ['Ben Whitaker', 'Head of Analytics', 'US', 5, [4100, 4200, 4300], ['analysts', 'region-us']],
  ['Carmen Ortega', 'Store Manager', 'ES', 2, [4210], ['region-emea']],
  ['Daniel Kim', 'Data Engineer', 'US', 4, [4100], ['analysts', 'region-us']],
  ['Elif Demir', 'Buyer', 'TR', 2, [4310, 4320], ['region-emea']],
  ['Farid Haddad', 'Contractor, Logistics', 'FR', 1, [4400], ['region-emea']],
  ['Grace Bennett', 'Regional Director', 'US', 4, [4200, 4210, 4220], ['region-us']],
  ['Hugo Martins', 'Data Analyst', 'BR', 2, [4100], ['analysts']],
  ['Isla Morgan', 'Merchandiser', 'GB', 2, [4310], ['region-emea']],
  ['Jamal Carter', 'Contractor, Store Planning', 'US', 1, [4220], ['region-us']],
  ['Keiko Tanaka', 'Data Scientist', 'JP', 3, [4100, 4500], ['analysts']],
  ['Luca Ferri', 'Controller', 'IT', 4, [4200, 4300], ['analysts', 'region-emea']],
  ['Maya Rossi', 'Planner', 'IT', 2, [4320], ['region-emea']],
  ['Noah Fischer', 'Intern', 'US', 1, [4100], ['region-us']],
];

const ENTRA: readonly PersonRow[] = [
  ['Anders Holm', 'Finance Director', 'DK', 5, [7000, 7100, 7200], ['finance', 'region-nord']],
  ['Britta Vogel', 'Controller', 'DE', 3, [7100], ['finance', 'region-dach']],
  ['Clara Lindgren', 'Sales Manager', 'SE', 2, [7200], ['region-nord']],
  ['Dominik Huber', 'Sales Manager', 'AT', 2, [7300], ['region-dach']],
  ['Eero Virtanen', 'Accountant', 'FI', 3, [7100], ['finance', 'region-nord']],
  ['Freya Solberg', 'Key Account Manager', 'NO', 2, [7200], ['region-nord']],
  ['Georg Steiner', 'Contractor, Audit', 'CH', 3, [7000], ['finance']],
  ['Hanna Weber', 'Accountant', 'DE', 3, [7100, 7300], ['finance', 'region-dach']],
  ['Ida Sørensen', 'Sales Manager', 'DK', 2, [7200], ['region-nord']],
  ['Jonas Keller', 'Key Account Manager', 'CH', 2, [7300], ['region-dach']],
];

const GROUPS: readonly (readonly [Idp, string])[] = [
  ['okta', 'analysts'],
  ['okta', 'region-emea'],
  ['okta', 'region-us'],
  ['entra', 'finance'],
  ['entra', 'region-nord'],
  ['entra', 'region-dach'],
];

/** Returns the company on its first day: 24 users, 6 groups. */
export function createCompany(): Company {
  const rows = { okta: OKTA, entra: ENTRA };
  const people = [...OKTA.map((row) => toPerson('okta', row)), ...ENTRA.map((row) => toPerson('entra', row))];
  const groups = GROUPS.map(([idp, group]) => {
    const memberRows = rows[idp].filter(([_name, _title, _country, _clearance, _budgets, groupNames]) =>
      groupNames.includes(group),
    );
    return { key: group, idp, name: group, members: memberRows.map(([name]) => idOf(idp, name)) };
  });
  return { people, groups };
}

/** Returns given and family name, as displayed. */
export function fullName({ givenName, familyName }: Person): string {
  return `${givenName} ${familyName}`;
}

/** Returns the e-mail address of a user at the company's domain, in ASCII letters. */
export function userNameOf(idp: Idp, givenName: string, familyName: string): string {
  const plain = `${givenName}.${familyName}`.toLowerCase().replaceAll('ø', 'o');
  return `${plain}@${idp === 'okta' ? 'acme' : 'nordwind'}.example`;
}

function toPerson(idp: Idp, [name, title, country, clearance, budgets]: PersonRow): Person {
  const [givenName = '', familyName = ''] = name.split(' ');
  return {
    externalId: idOf(idp, name),
    idp,
    givenName,
    familyName,
    userName: userNameOf(idp, givenName, familyName),
    title,
    country,
    clearance,
    contractor: title.startsWith('Contractor'),
    budgets,
    active: true,
  };
}

/** Returns an id in the form of the provider: `00u…` for Okta, a UUID for Entra ID. The same name always gives the same id. */
function idOf(idp: Idp, name: string): string {
  const hex = createHash('sha256').update(`${idp} ${name}`).digest('hex');
  if (idp === 'okta') return `00u${hex.slice(0, 17)}`;
  // Sets the digits of a UUID that say version 4 and variant 1 (`a`).
  return hex.slice(0, 32).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-a$4-$5');
}
