// Explains which limit of the guard held changes: the limit, its population, and the changes that used its allowance.
import type { DesiredState } from '../../directory/desired-state.ts';
import type { Ref } from '../../directory/records.ts';
import {
  allowanceOf,
  DESTRUCTIVE_KINDS,
  populationOf,
  type DestructiveKind,
  type GuardSettings,
} from '../../guard/judge.ts';
import { describeChanges } from './held-change.ts';
import { isoTime } from '../../support/sources.ts';

/** The limit of the guard for one kind of destructive change. */
export interface ExplainedLimit {
  kind: DestructiveKind;
  /** Limits of the settings: number of changes, and share of the population in percent. */
  count: number;
  percent: number;
  /** Time for which the guard counts changes. */
  windowMs: number;
  /** Users, resources or memberships that the share refers to. */
  population: number;
  /**
   * Most changes within the window (`allowanceOf` of guard/judge.ts): the smaller of `count` and the share of the population. A
   * share above 0 % allows at least SHARE_FLOOR changes, also in a small population.
   */
  allowance: number;
  /** Number of changes that the guard allowed within the window without an approval, whether or not the write succeeded. */
  used: number;
  /** Number of accepted deactivations that no sync has asked the guard for yet; 0 for other kinds. */
  waiting: number;
  /** Number of changes that are held until an operator decides or the approval expires. */
  held: number;
  /**
   * Time at which the guard allowed the oldest change that counts, ISO 8601; a change that was allowed several times counts from
   * the last time. Absent: none counts.
   */
  usedSince?: string;
  /** The newest changes that count against the allowance. */
  usedBy: {
    ref: Ref;
    name: string;
    member?: string;
    /** Time when the guard last allowed the change, ISO 8601. */
    at: string;
  }[];
}

/** Number of counted changes that are listed. */
const NAMED = 5;

/** Returns how far the guard's limit is used, for each kind of destructive change of which the target has held changes. */
export async function explainLimits(
  state: DesiredState,
  target: string,
  guard: GuardSettings,
): Promise<ExplainedLimit[]> {
  const outbox = state.outboxes.get(target);
  if (!outbox) return [];
  const { population, kinds } = await outbox.guardStore.counts(guard.windowMs);
  const limits: ExplainedLimit[] = [];
  for (const kind of DESTRUCTIVE_KINDS.filter((each) => kinds[each].held > 0)) {
    const { used, waiting, held } = kinds[kind];
    // The limit is only shown, so no further change is asked for.
    const noneWanted = 0;
    const populationOfKind = populationOf(kind, population, kinds[kind], noneWanted);
    const { newest, oldestAt } = await outbox.guardStore.countedChanges(kind, guard.windowMs, NAMED);
    const times = newest.map(({ at }) => at);
    // One description for each change, in the same order.
    const described = await describeChanges(
      state,
      target,
      newest.map(({ item }) => item),
    );
    limits.push({
      kind,
      ...guard[kind],
      windowMs: guard.windowMs,
      population: populationOfKind,
      allowance: allowanceOf(guard[kind], populationOfKind),
      used,
      waiting,
      held,
      ...(oldestAt === undefined ? {} : { usedSince: isoTime(oldestAt) }),
      usedBy: described.map(({ ref, name, member }, index) => ({
        ref,
        name,
        ...(member === undefined ? {} : { member }),
        at: isoTime(times[index] as number),
      })),
    });
  }
  return limits;
}
