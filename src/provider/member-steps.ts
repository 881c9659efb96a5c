// Converts the steps of a PATCH or PUT on group members to set operations. Filters on members are evaluated in slices, and the
// members are read once for all steps.
import type { MemberStep as DirectoryStep } from '../directory/resources/changes.ts';
import {
  Comparisons,
  noTarget,
  requiredValues,
  selectInSteps,
  type Filter,
  type PatchMemberStep,
} from '../scim/index.ts';
import { inSlices } from '../support/pace.ts';
import type { ProviderDeps, RequestContext } from './context.ts';

export function createMemberSteps({ directory, pace }: ProviderDeps) {
  /** Returns the members of a group, and the users among them and among the values that the steps add. */
  async function membersDuring(
    id: string,
    steps: readonly PatchMemberStep[],
  ): Promise<{ values: Set<string>; users: Set<string> }> {
    const { users, unresolved } = await directory.membersOf(id);
    const values = new Set([...users, ...unresolved]);
    const found = new Set(users);
    const added = steps.flatMap((step) =>
      step.kind === 'add' || step.kind === 'replace' ? step.values : [],
    );
    const others = [...new Set([...unresolved, ...added])].filter((value) => !found.has(value));
    for (const user of await directory.existing('User', others)) found.add(user);
    return { values, users: found };
  }

  /**
   * Converts member steps to set operations. The filter of a step `removeWhere` is evaluated on the members as they are after
   * the earlier steps. @throws 400 noTarget when a step `expect` finds none of its values among these members, 400 tooMany when the
   * filters compare too many members
   */
  return async function toSetSteps(
    id: string,
    steps: readonly PatchMemberStep[],
    { baseUrl, comparisons = new Comparisons() }: RequestContext,
  ): Promise<DirectoryStep[]> {
    const sets: DirectoryStep[] = [];
    const readsMembers = steps.some(({ kind }) => kind === 'removeWhere' || kind === 'expect');
    const { values, users } = readsMembers
      ? await membersDuring(id, steps)
      : { values: new Set<string>(), users: new Set<string>() };
    const slice = pace();
    const add = (kind: DirectoryStep['kind'], listed: readonly string[]): void => {
      sets.push({ kind, values: [...listed] });
      if (!readsMembers) return;
      if (kind === 'replace') values.clear();
      for (const value of listed) {
        if (kind === 'remove') values.delete(value);
        else values.add(value);
      }
    };
    for (const step of steps) {
      if (step.kind === 'expect') {
        if (!step.values.some((value) => values.has(value)))
          throw noTarget('No member of the group matches the filter.');
      } else if (step.kind === 'removeWhere') {
        const candidates = candidatesOf(step.filter, values);
        comparisons.count(candidates.size, step.filter);
        const shown = (value: string): Record<string, unknown> =>
          users.has(value) ? { value, $ref: `${baseUrl}/Users/${value}`, type: 'User' } : { value };
        add('remove', await inSlices(selectInSteps(step.filter, candidates, shown), slice));
      } else {
        add(step.kind, step.values);
        if (slice.isOver()) await slice.rest();
      }
    }
    return sets;
  };
}

/** Returns the members that can satisfy a filter: the one that it names by value, or all. */
function candidatesOf(filter: Filter, members: ReadonlySet<string>): ReadonlySet<string> {
  const named = requiredValues(filter).find(({ name }) => name === 'value')?.value;
  if (typeof named !== 'string') return members;
  return new Set(members.has(named) ? [named] : []);
}
