// Opens the reconcile scopes for one command and aborts the command on SIGINT and SIGTERM.
import { setFlagsFromString } from 'node:v8';
import { complain } from './output.ts';
import type { AppDeps } from '../app.ts';
import type { Config } from '../config/schema.ts';
import type { ScheduledScope } from '../reconcile/schedule.ts';
import { requireAnswer, toDeadlineMs, watchSilence } from './silence.ts';
import { randomIds, systemClock } from '../support/sources.ts';
import { createLogger } from '../support/logger.ts';

export interface SelectedScope extends ScheduledScope {
  /** `<connection> → <target>`. */
  name: string;
}

export interface CommandContext {
  scopes: SelectedScope[];
  signal: AbortSignal;
  deps: AppDeps;
}

/** Percent of what is in use by which the heap grows before it is cleaned; left alone it takes several times as much. */
const HEAP_GROWTH = 100;

/** @throws Error with what to do when Redis does not answer, or when there is no such target */
export async function withScopes<T>(
  config: Config,
  {
    target,
    worker,
    deadline,
    calls = true,
  }: {
    target?: string | undefined;
    worker: boolean;
    /** Longest time of the command, such as `10m`; default: none. */
    deadline?: string | undefined;
    /** False: the command tolerates a platform that does not answer. */
    calls?: boolean;
  },
  use: (context: CommandContext) => Promise<T>,
): Promise<T> {
  if (target !== undefined && !(target in config.targets))
    throw new Error(`There is no target ${target}: see scim-bridge check-config --print.`);
  const deadlineMs = deadline === undefined ? undefined : toDeadlineMs(deadline);
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`);
  const { openScopes } = await import('../app.ts');
  // Failures on the way are written to standard error; results are in the answer.
  const logger = createLogger('warn', { write: (line) => complain(line.trimEnd()) });
  const deps: AppDeps = { logger, clock: systemClock, ids: randomIds, random: () => Math.random() };
  const { scopes, stop } = await openScopes(config, deps, { worker });
  const ended = new AbortController();
  const onSignal = (): void =>
    ended.abort(new Error('ended by a signal; what is marked is applied by a worker'));
  let timer: NodeJS.Timeout | undefined;
  let endWatch = (): void => undefined;
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, onSignal);
  try {
    const chosen = scopes
      .filter(({ scope }) => target === undefined || scope.target.name === target)
      .map((each) => ({ ...each, name: `${each.scope.connection} → ${each.scope.target.name}` }));
    const targets = [...new Set(chosen.map(({ scope }) => scope.target))];
    if (deadlineMs !== undefined) {
      const late = new Error(
        `Not finished within ${deadline}. Changes stay marked, and a worker applies them.`,
      );
      timer = setTimeout(() => ended.abort(late), deadlineMs);
    }
    if (calls) {
      await Promise.all(targets.map((each) => requireAnswer(each, systemClock, ended.signal)));
      endWatch = watchSilence(targets, (error) => ended.abort(error));
    }
    return await use({ scopes: chosen, signal: ended.signal, deps });
  } catch (error) {
    // The reason of the end says more than the call that it broke off.
    throw ended.signal.aborted ? ended.signal.reason : error;
  } finally {
    clearTimeout(timer);
    endWatch();
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, onSignal);
    await stop();
  }
}
