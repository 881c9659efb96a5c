// Compares what the processes of the service announce in their heartbeats: mapping rules, and prints of the addresses and keys of
// targets. A process with other rules syncs resources in another way than this process would.
import type { FeedRules, TargetFeed } from './target-feed.ts';

/** Facts of a process about its settings; absent in a release that does not announce them. */
export interface Announcing {
  /** The text that `announced` returns for the settings of the process. */
  rules?: string;
  /** By target: print of its address and keys (`callerPrint` of breaker.ts); absent in a release that does not announce them. */
  callers?: Readonly<Record<string, string>>;
}

/** How many words of an announced line are compared: connection and target; also the rules; also the other settings. */
const [FEED, RULES, ALL] = [2, 3, 4];

/**
 * Returns whether processes run, and each of them calls the target at another address or with another key than the caller with this
 * print. If the caller is a command, it has a circuit breaker of its own then, so that its failures do not stop the service.
 */
export const isCalledOtherwise = (
  processes: readonly Announcing[],
  { target, print }: { target: string; print: string },
): boolean =>
  processes.length > 0 &&
  processes.every(({ callers }) => callers?.[target] !== undefined && callers[target] !== print);

/**
 * Returns the rules as text for the heartbeats of a process: for each feed a line with the connection, the target, and the digests
 * of the mapping rules (`rules`) and of the other settings (`others`). Names have no spaces.
 */
export const announced = (feeds: readonly FeedRules[]): string =>
  feeds
    .map(({ connection, target, rules, others }) => [connection, target, rules, others].join(' '))
    .sort()
    .join('\n');

/** Returns whether all these processes announce the rules of the feed, a pair of connection and target. */
export const agreeOn = (processes: readonly Announcing[], feed: Omit<FeedRules, 'others'>): boolean => {
  const lineOfFeed = `${feed.connection} ${feed.target} ${feed.rules}`;
  return processes.every((each) => linesOf(each, RULES).includes(lineOfFeed));
};

/**
 * Returns the connections and targets for which these processes announce different rules.
 * @param options.withOthers whether the other settings are compared too
 */
export function differingFeeds(processes: readonly Announcing[], { withOthers = false } = {}): TargetFeed[] {
  const counts = new Map<string, number>();
  for (const each of processes)
    for (const line of linesOf(each, withOthers ? ALL : RULES)) counts.set(line, (counts.get(line) ?? 0) + 1);
  // A line that is counted less often than there are processes is not announced by all of them.
  const differing = [...counts].flatMap(([line, count]) =>
    count < processes.length ? [firstWords(line, FEED)] : [],
  );
  return [...new Set(differing)].map((feed) => {
    const [connection = '', target = ''] = feed.split(' ');
    return { connection, target };
  });
}

/**
 * Returns whether processes run, and all of them announce that they do not sync the connection to the target. False without a
 * process: a command then knows its own settings only, and those may be out of date.
 */
export const isFedByNone = (processes: readonly Announcing[], { connection, target }: TargetFeed): boolean =>
  processes.length > 0 &&
  processes.every(
    (each) => each.rules !== undefined && !linesOf(each, FEED).includes(`${connection} ${target}`),
  );

/** Returns the first `count` words of each line that a process announces. */
const linesOf = ({ rules = '' }: Announcing, count: number): string[] =>
  rules === '' ? [] : rules.split('\n').map((line) => firstWords(line, count));

const firstWords = (line: string, count: number): string => line.split(' ').slice(0, count).join(' ');
