// Stores changes of very many memberships with several short scripts, because one long script would block Redis. Each script
// leaves the group consistent and sets its mark. All scripts but the last postpone the mark, so that a sync sees the whole change.
import { inPortions } from '../redis/portions.ts';
import type { MemberStep, PutOutcome } from './changes.ts';

/** Largest number of memberships that one script changes, about 10 ms in Redis. */
export const MOST_AT_ONCE = 1000;
/**
 * Memberships of each script of a larger change. While Redis copies memory for a snapshot, a script takes up to a hundred times
 * as long.
 */
const PORTION = 250;
/** Number of attempts of a replacement when another writer changes the group between its scripts. */
const ATTEMPTS = 20;

export interface LargeChangeDeps {
  /** Returns the version of a group; undefined when it does not exist. */
  versionOf: (group: string) => Promise<number | undefined>;
  /** Returns all members: ids of users, then member values without a user. */
  membersOf: (group: string) => Promise<string[]>;
  /** Returns ids of the users that the values identify. */
  usersMeantBy: (values: string[]) => Promise<string[]>;
}

/** The memberships of a large change that one script stores. */
export interface MemberPortion {
  steps: MemberStep[];
  /** Required version; undefined: no version check. */
  expected: number | undefined;
  /** The first portion also stores the group's text. If it is refused, nothing was changed. */
  isFirst: boolean;
  /** Whether further portions of the change follow. */
  more: boolean;
}

type Store = (portion: MemberPortion) => Promise<PutOutcome>;

/** Returns whether the steps have more values than one script changes. The removals of a `replace` step are not counted. */
export const areMany = (steps: readonly MemberStep[]): boolean =>
  steps.reduce((sum, { values }) => sum + values.length, 0) > MOST_AT_ONCE;

export function createLargeChange({ versionOf, membersOf, usersMeantBy }: LargeChangeDeps) {
  /** Returns the steps that turn the stored members into the wanted ones. */
  async function differences(group: string, wanted: readonly string[]): Promise<MemberStep[]> {
    const surplus = new Set(await membersOf(group));
    const missing = wanted.filter((value) => !surplus.has(value));
    for (const value of wanted) surplus.delete(value);
    // A wanted userName may identify a user who is a member by id.
    if (surplus.size > 0) for (const user of await usersMeantBy(missing)) surplus.delete(user);
    return [
      { kind: 'remove', values: [...surplus] },
      { kind: 'add', values: missing },
    ];
  }

  /** @returns the outcome of the last portion; `stale`: nothing was done, or other writers changed the group at each attempt */
  return async function change(
    group: string,
    steps: readonly MemberStep[],
    expected: number | undefined,
    store: Store,
  ): Promise<PutOutcome> {
    // Steps before the last replacement have no effect. -1: there is no replacement.
    const replacementAt = steps.findLastIndex(({ kind }) => kind === 'replace');
    const wanted = steps[replacementAt]?.values;
    let isFirst = true;
    let isChanged = false;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      // A replacement is computed for one version, so each portion requires the version that the previous portion left.
      let version = isFirst ? expected : undefined;
      if (wanted) version ??= await versionOf(group);
      const replacing = wanted ? await differences(group, wanted) : [];
      const portions = portionsOf([...replacing, ...steps.slice(replacementAt + 1)]);
      let outcome: PutOutcome = { kind: 'stale' };
      for (const [index, portion] of portions.entries()) {
        const more = index < portions.length - 1;
        outcome = await store({ steps: portion, expected: version, isFirst, more });
        if (outcome.kind !== 'stored' && outcome.kind !== 'unchanged') break;
        isFirst = false;
        isChanged ||= outcome.kind === 'stored';
        version = wanted && outcome.version;
      }
      if (outcome.kind === 'unchanged' && isChanged) return { ...outcome, kind: 'stored' };
      // Another attempt cannot succeed: the group has another version than the client knows, and nothing was changed.
      const isStaleForClient = isFirst && expected !== undefined;
      if (outcome.kind !== 'stale' || isStaleForClient) return outcome;
    }
    return { kind: 'stale' };
  };
}

/** Splits steps into portions; returns at least one, which may be empty, because a change may have no members. */
export function portionsOf(steps: readonly MemberStep[]): MemberStep[][] {
  const portions: MemberStep[][] = [];
  for (const { kind, values } of steps) {
    for (const portion of inPortions(values, PORTION)) portions.push([{ kind, values: portion }]);
  }
  return portions.length > 0 ? portions : [[]];
}
