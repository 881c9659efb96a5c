// Compares the company's data with the platform's state. The desired side is computed here from the story,
// independently of the bridge, so that the comparison is a real test.
import { fullName, type Company, type Idp, type Person } from './company.ts';
import type { PlatformState } from './platform.ts';

/** The compared values of one user, on one of the two sides. */
export interface Side {
  name: string;
  userName: string;
  country: unknown;
  clearance: unknown;
  contractor: unknown;
  budgets: unknown;
  regions: unknown;
  groups: string[];
  active: boolean;
}

export interface ComparedPerson {
  idp: Idp;
  desired: Side;
  /** Undefined when the platform does not have this user. */
  platform: Side | undefined;
  equal: boolean;
}

export interface CompanyComparison {
  rows: ComparedPerson[];
  /** Groups that exist on one side only. */
  strayGroups: string[];
  /** userNames of accounts at the platform that match no user of the company, such as duplicates. */
  strayUsers: string[];
  equal: boolean;
}

/** Compares the company with the platform, user by user. */
export function compare(company: Company, state: PlatformState): CompanyComparison {
  const accounts = new Map(state.users.map((user) => [user.externalId, user]));
  const rows = company.people.map((person): ComparedPerson => {
    const desired = desiredSide(company, person);
    const account = accounts.get(person.externalId);
    const platform = account && platformSide(account);
    const equal = JSON.stringify(desired) === JSON.stringify(platform);
    return { idp: person.idp, desired, platform, equal };
  });
  const wanted = company.groups.map(({ name }) => name);
  const present = state.groups.map(({ displayName }) => displayName);
  const strayGroups = [
    ...wanted.filter((name) => !present.includes(name)),
    ...present.filter((name) => !wanted.includes(name)),
  ];
  const known = new Set(company.people.map(({ externalId }) => externalId));
  // Accounts without an externalId existed before the bridge, which does not manage them.
  const strayUsers = state.users.flatMap((user) => {
    const isExpected =
      user.externalId === null || (known.has(user.externalId) && accounts.get(user.externalId) === user);
    return isExpected ? [] : [user.userName];
  });
  const equal = rows.every((row) => row.equal) && strayGroups.length + strayUsers.length === 0;
  return { rows, strayGroups, strayUsers, equal };
}

function desiredSide(company: Company, person: Person): Side {
  const groups = company.groups
    .filter(({ members }) => members.includes(person.externalId))
    .map(({ name }) => name);
  // The demo's settings map the groups `region-…` to the attribute `regions` (bridge-settings.ts).
  const regions = groups.filter((name) => name.startsWith('region-'));
  return {
    name: fullName(person),
    userName: person.userName,
    country: person.country,
    clearance: person.clearance,
    contractor: person.contractor,
    budgets: person.budgets,
    regions: regions.length > 0 ? regions : null,
    groups: groups.sort(),
    active: person.active,
  };
}

function platformSide({ attributes, ...account }: PlatformState['users'][number]): Side {
  return {
    name: account.displayName ?? '',
    userName: account.userName,
    country: attributes.country ?? null,
    clearance: attributes.clearance ?? null,
    contractor: attributes.contractor ?? null,
    budgets: attributes.budgets ?? null,
    regions: attributes.regions ?? null,
    groups: [...account.groups].sort(),
    active: account.active,
  };
}
