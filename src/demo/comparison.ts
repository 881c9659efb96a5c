// Compares the company's data with the platform's state. The desired side is computed here from the story,
// independently of the bridge, so that the comparison is a real test.
import { fullName, type Company, type Idp } from './company.ts';
import type { PlatformState } from './platform.ts';

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
  /** Accounts at the platform that match no user of the company, such as duplicates. */
  strayUsers: string[];
  equal: boolean;
}

/** Compares the company with the platform, user by user. */
export function compare(company: Company, state: PlatformState): CompanyComparison {
  const seen = new Map(state.users.map((user) => [user.externalId, user]));
  const rows = company.people.map((person): ComparedPerson => {
    const names = company.groups
      .filter(({ members }) => members.includes(person.externalId))
      .map(({ name }) => name);
    const regions = names.filter((name) => name.startsWith('region-'));
    const desired: Side = {
      ...{ name: fullName(person), userName: person.userName, country: person.country },
      ...{ clearance: person.clearance, contractor: person.contractor, budgets: person.budgets },
      ...{ regions: regions.length > 0 ? regions : null, groups: names.sort(), active: person.active },
    };
    const user = seen.get(person.externalId);
    const platform = user && {
      ...{ name: user.displayName ?? '', userName: user.userName, country: user.attributes.country ?? null },
      ...{ clearance: user.attributes.clearance ?? null, contractor: user.attributes.contractor ?? null },
      ...{ budgets: user.attributes.budgets ?? null, regions: user.attributes.regions ?? null },
      ...{ groups: [...user.groups].sort(), active: user.active },
    };
    return {
      idp: person.idp,
      desired,
      platform,
      equal: JSON.stringify(desired) === JSON.stringify(platform),
    };
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
    const ours =
      user.externalId === null || (known.has(user.externalId) && seen.get(user.externalId) === user);
    return ours ? [] : [user.userName];
  });
  const equal = rows.every((row) => row.equal) && strayGroups.length + strayUsers.length === 0;
  return { rows, strayGroups, strayUsers, equal };
}
