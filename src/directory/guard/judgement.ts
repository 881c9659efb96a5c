// Asks Redis for verdicts about destructive writes (guard_take.lua), in portions, because a script blocks Redis.
import { DESTRUCTIVE_KINDS } from '../../guard/judge.ts';
import { inPortions } from '../redis/portions.ts';
import type { StoreDeps } from '../redis/scripts.ts';
import type { Destruction } from './held-changes.ts';

/** How items are judged; the header of guard_take.lua explains the arguments. */
interface JudgeOptions {
  /** Largest number of changes of each kind within the window; -1: none is allowed. */
  allowances: Record<string, number>;
  windowMs: number;
  /** Either all items without an earlier verdict are allowed, or none. */
  whole?: boolean;
  /** True: the items need a new decision of an operator; neither an approval nor an earlier count allows them. */
  always?: true;
  /** Numbers of undecided items in later portions, in the order of DESTRUCTIVE_KINDS. */
  later?: number[];
  /** Earlier verdict on an item of any portion, because of which `whole` allows none. */
  stop?: 'held' | 'rejected';
}

/** Reply of guard_take.lua about one item. `heldAgain`: held anew, because an earlier approval or hold of the item has expired. */
export type Verdict = 'allowed' | 'held' | 'rejected' | 'heldAgain';

/** Items that one script judges, about 7 ms in Redis. */
const PORTION = 1000;

/**
 * Returns the function that judges items.
 * @param common arguments of every call of the script
 */
export function createJudgement({ scripts, keys }: StoreDeps, common: object) {
  /**
   * Judges very many items with several short scripts. All are counted first, so that each portion is judged by the total. A change
   * that another sync asks for in between counts only for the portions after it.
   */
  async function judgeMany(items: Destruction[], args: JudgeOptions): Promise<Verdict[]> {
    const portions = inPortions(items, PORTION);
    const { undecided, stop } = await countUndecided(portions, args);
    const verdicts: Verdict[] = [];
    for (const [index, portion] of portions.entries()) {
      // Earlier portions are already in the window, so only later ones are added.
      const rest = undecided.slice(index + 1);
      const later = DESTRUCTIVE_KINDS.map((_, kind) =>
        rest.reduce((sum, ofKinds) => sum + (ofKinds[kind] ?? 0), 0),
      );
      verdicts.push(...(await judgePortion(portion, { ...args, later, ...(stop && { stop }) })));
    }
    return verdicts;
  }

  /**
   * Counts the items without an earlier verdict, and judges none of them.
   * @returns `undecided`: for each portion their numbers, in the order of DESTRUCTIVE_KINDS. `stop`: the
   *   earlier verdict of an item of any portion, `rejected` before `held`; undefined: no item has one of them
   */
  async function countUndecided(
    portions: Destruction[][],
    args: JudgeOptions,
  ): Promise<{ undecided: number[][]; stop: 'held' | 'rejected' | undefined }> {
    const undecided: number[][] = [];
    let stop: 'held' | 'rejected' | undefined;
    for (const portion of portions) {
      const [ofKinds, earlier] = await runGuardTake(portion, { ...args, counting: true });
      undecided.push(ofKinds as number[]);
      if (earlier !== '' && stop !== 'rejected') stop = earlier as 'held' | 'rejected';
    }
    return { undecided, stop };
  }

  /** Runs guard_take for one portion. @returns the values of its reply `judged` or `counted` */
  function runGuardTake(items: Destruction[], args: JudgeOptions & { counting?: true }): Promise<unknown[]> {
    const wire = items.map(({ kind, ref, subject }) => [kind, ref, subject ?? '']);
    return scripts.values('guard_take', keys.base, { ...common, ...args, items: wire });
  }

  /** Judges items with one script. @returns verdicts in the order of the items */
  async function judgePortion(items: Destruction[], args: JudgeOptions): Promise<Verdict[]> {
    const [verdicts] = await runGuardTake(items, args);
    return verdicts as Verdict[];
  }

  /** Judges items. @returns verdicts in their order */
  return (items: Destruction[], args: JudgeOptions): Promise<Verdict[]> =>
    items.length <= PORTION ? judgePortion(items, args) : judgeMany(items, args);
}
