// Resolves the rows that access policies leave to a query.
import { parseFilters, type CoreDataFilter } from './filters.ts';
import { isFilterForm } from './filter-form.ts';
import type { FilterSetting } from './filter-values.ts';
import { userError, type FoundMember } from './members.ts';
import { policyFilters } from './policy.ts';
import type { CoreDataSecurityContext } from './security-context.ts';

export interface RowAccess {
  /** A member of the query has no policy for the context: no rows. */
  readonly isDenied: boolean;
  readonly filters: readonly CoreDataFilter[];
  /** The filters in the form of a query, as the answer shows them. */
  readonly shown: readonly unknown[];
}

interface Access {
  readonly context: CoreDataSecurityContext;
  readonly setting: FilterSetting;
  /** Number of filters of the query. Error texts number the filters of policies behind them. */
  readonly filterCount: number;
}

/** Returns the names of the members, and of further members that their SQL evaluates. */
export const evaluatedNames = (
  members: readonly FoundMember<{ readonly uses?: readonly string[] }>[],
): string[] => [...new Set(members.flatMap(({ name, member }) => [name, ...(member.uses ?? [])]))];

/** Returns the rows that a query with these members may see. @throws 400 for values that cannot be a filter */
export function rowAccessOf(names: readonly string[], { context, setting, filterCount }: Access): RowAccess {
  const shown = policyFilters(setting.model.cubes, names, context);
  if (shown === null) return { isDenied: true, filters: [], shown: [] };
  for (const [index, filter] of shown.entries())
    if (!isFilterForm(filter))
      throw userError(
        `Invalid query format: "filters[${filterCount + index}]" does not match any of the allowed types`,
      );
  return { isDenied: false, filters: parseFilters(shown, setting), shown };
}
