// Opens the reconcile scopes for one command and aborts the command on SIGINT and SIGTERM.
import { setFlagsFromString } from 'node:v8';
import { createCommandLogger } from './command-logger.ts';
import { requireKnown } from './required-names.ts';
import { openScopes } from '../app/open.ts';
import type { AppDeps } from '../app/parts.ts';
import type { Config } from '../config/schema.ts';
import type { ScheduledScope } from '../reconcile/apply/schedule.ts';
import { TargetSilent } from '../reconcile/target-silent.ts';
import { whileAnswering } from '../reconcile/while-answering.ts';
import { complain } from './output.ts';
import { randomIds, systemClock } from '../support/sources.ts';

export interface SelectedScope extends ScheduledScope {
  /** `<connection> → <target>`. */
  name: string;
}

type Opened = Awaited<ReturnType<typeof openScopes>>;

export interface CommandContext extends Omit<Opened, 'scopes' | 'stop'> {
  /** Connections and targets that the command is about. */
  scopes: SelectedScope[];
  /** Aborted by a signal of the system, or at the deadline of the command. */
  signal: AbortSignal;
  deps: AppDeps;
}

/**
 * Runs `run` with a signal that aborts when the target does not answer.
 * @param tell called with a sentence about a long wait for the rate limit; default: it is printed
 * @throws TargetSilent
 */
export const atTarget = <T>(
  { scope, name }: Pick<SelectedScope, 'scope' | 'name'>,
  { signal }: Pick<CommandContext, 'signal'>,
  run: (answering: AbortSignal) => Promise<T>,
  tell: (waiting: string) => void = (waiting) => complain(`${name}: ${waiting}`),
): Promise<T> => whileAnswering(scope, signal, run, tell);

/**
 * Runs `run` as `atTarget` does, for a command that goes on with its other targets.
 * @returns undefined: the target does not answer, and a message says so
 */
export const atTargetOrTell = <T>(
  each: Pick<SelectedScope, 'scope' | 'name'>,
  context: Pick<CommandContext, 'signal'>,
  run: (answering: AbortSignal) => Promise<T>,
): Promise<T | undefined> =>
  atTarget(each, context, run).catch((error: unknown) => {
    if (!(error instanceof TargetSilent)) throw error;
    complain(`${each.name}: ${error.message}`);
    return undefined;
  });

/**
 * V8 collects garbage when the heap has grown by this percentage of the live objects, so that a command needs less memory. By
 * default the heap grows to several times their size.
 */
const HEAP_GROWTH = 100;
/** Beginning of the message when the deadline of a command (--deadline) passes. */
const PAST_DEADLINE = 'The deadline passed before the command ended';

/**
 * Opens the scopes, runs `use`, and closes the scopes.
 * @throws Error with what to do when Redis does not answer, or when there is no such target
 */
export async function withScopes<T>(
  config: Config,
  {
    target,
    mayWrite = false,
    deadlineMs,
  }: {
    target?: string | undefined;
    /** Whether the command may have written or marked something when a signal or its deadline ends it. */
    mayWrite?: boolean;
    deadlineMs?: number | undefined;
  },
  use: (context: CommandContext) => Promise<T>,
): Promise<T> {
  requireKnown(config, { target });
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`);
  const ended = new AbortController();
  const endAtDeadline = (): void => ended.abort(new Error(deadlineText(mayWrite)));
  const timer = deadlineMs === undefined ? undefined : setTimeout(endAtDeadline, deadlineMs);

  // Failures during the run are written to standard error; the result is returned.
  const logger = createCommandLogger('warn');
  const deps: AppDeps = { logger, clock: systemClock, ids: randomIds, random: () => Math.random() };
  const onSignal = (): void => ended.abort(new Error(signalText(mayWrite)));
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, onSignal);
  // Nothing is to be stopped if the scopes cannot be opened.
  let stop = (): Promise<void> => Promise.resolve();
  try {
    const opened = await openScopes(config, deps, { signal: ended.signal, onlyReads: !mayWrite });
    const { scopes, stop: close, ...rest } = opened;
    stop = close;
    const chosen = scopes
      .filter(({ scope }) => target === undefined || scope.target.name === target)
      .map((each) => ({ ...each, name: `${each.scope.connection} → ${each.scope.target.name}` }));
    return await use({ ...rest, scopes: chosen, signal: ended.signal, deps });
  } finally {
    clearTimeout(timer);
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, onSignal);
    await stop();
  }
}

const signalText = (mayWrite: boolean): string =>
  mayWrite
    ? 'ended by a signal; a worker, if one runs, applies what the command has marked'
    : 'ended by a signal; nothing was changed';

const deadlineText = (mayWrite: boolean): string =>
  mayWrite
    ? `${PAST_DEADLINE}. A worker applies what is marked, if one runs; repeat the command for the rest.`
    : `${PAST_DEADLINE}; nothing was changed. Repeat it with a longer --deadline.`;
