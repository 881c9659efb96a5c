// Changes of very many memberships, made by several short scripts: one long script would keep every client of Redis waiting.
// Each script is a whole change with its mark. Until the last one the mark is due later, so that a sync finds the change whole.
import type { MemberStep, PutOutcome } from './changes.ts';

/** Memberships that one script changes at most: some 20 ms of Redis. */
export const MOST_AT_ONCE = 2000;
/** How often a replacement starts anew because another writer came between its scripts. */
const ATTEMPTS = 20;

export interface LargeChangeDeps {
  /** undefined = the group is not there. */
  versionOf: (group: string) => Promise<number | undefined>;
  /** Ids of users, then values whose user is not there yet. */
  membersOf: (group: string) => Promise<string[]>;
  /** Ids of the users that some of these values mean. */
  usersMeantBy: (values: string[]) => Promise<string[]>;
}

export interface Portion {
  steps: MemberStep[];
  /** As in a change. */
  expected: number | undefined;
  /** Stored with whatever else belongs to the change. Where this one is refused, nothing was done. */
  isFirst: boolean;
  /** Other portions of the same change follow. */
  more: boolean;
}

type Store = (portion: Portion) => Promise<PutOutcome>;

/** Whether the steps alone are more than one script should do; a replacement may turn out to be as well. */
export const areMany = (steps: readonly MemberStep[]): boolean =>
  steps.reduce((sum, { values }) => sum + values.length, 0) > MOST_AT_ONCE;

export type LargeChange = ReturnType<typeof createLargeChange>;

export function createLargeChange({ versionOf, membersOf, usersMeantBy }: LargeChangeDeps) {
  /** The members that a replacement removes and adds. */
  async function differences(group: string, wanted: readonly string[]): Promise<MemberStep[]> {
    const surplus = new Set(await membersOf(group));
    const missing = wanted.filter((value) => !surplus.has(value));
    for (const value of wanted) surplus.delete(value);
    // Somebody who is in the group by id may be wanted by name.
    if (surplus.size > 0) for (const user of await usersMeantBy(missing)) surplus.delete(user);
    return [
      { kind: 'remove', values: [...surplus] },
      { kind: 'add', values: missing },
    ];
  }

  /** @returns what the last portion answered; `stale`: nothing was done, or others come between again and again */
  return async function change(
    group: string,
    steps: readonly MemberStep[],
    expected: number | undefined,
    store: Store,
  ): Promise<PutOutcome> {
    // Steps before a replacement have no effect.
    const from = steps.findLastIndex(({ kind }) => kind === 'replace');
    const replaced = steps[from]?.values;
    let isFirst = true;
    let isChanged = false;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      // A replacement is right for one version: each portion asks for the version that the one before it left.
      let version = isFirst ? expected : undefined;
      if (replaced) version ??= await versionOf(group);
      const first = replaced ? await differences(group, replaced) : [];
      const portions = portionsOf([...first, ...steps.slice(from + 1)]);
      let outcome: PutOutcome = { kind: 'stale' };
      for (const [index, portion] of portions.entries()) {
        const more = index < portions.length - 1;
        outcome = await store({ steps: portion, expected: version, isFirst, more });
        if (outcome.kind !== 'stored' && outcome.kind !== 'unchanged') break;
        isFirst = false;
        isChanged ||= outcome.kind === 'stored';
        version = replaced && outcome.version;
      }
      if (outcome.kind === 'unchanged' && isChanged) return { ...outcome, kind: 'stored' };
      if (outcome.kind !== 'stale' || (isFirst && expected !== undefined)) return outcome;
    }
    return { kind: 'stale' };
  };
}

/** At least one, though it be empty: a change may be more than its members. */
export function portionsOf(steps: readonly MemberStep[]): MemberStep[][] {
  const portions: MemberStep[][] = [];
  for (const { kind, values } of steps) {
    for (let at = 0; at < values.length; at += MOST_AT_ONCE) {
      portions.push([{ kind, values: values.slice(at, at + MOST_AT_ONCE) }]);
    }
  }
  return portions.length > 0 ? portions : [[]];
}
