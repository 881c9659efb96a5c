// Proves derived data by the records about once an hour, in one of the processes with the role `all`, `worker` or `scheduler`, and
// checks the hash chains of the logs. Such a pass repairs nothing; doctor, status, /health and metrics show its findings.
import type { DesiredState } from '../../directory/desired-state.ts';
import type { Logger } from '../../support/logger.ts';
import { startRounds } from '../../support/rounds.ts';
import type { Clock } from '../../support/sources.ts';
import { tendLogs } from './check-logs.ts';
import { proveConnection } from './prove.ts';

/** Shortest wait before the first pass; a random part of up to the same time is added, so that processes do not start together. */
const FIRST_MS = 5 * 60_000;
const EVERY_MS = 60 * 60_000;
/**
 * Time after a pass in which no process starts another one. It is a little shorter than the wait between the passes of one
 * process, so that the turn is free when this process tries again.
 */
const REST_MS = EVERY_MS - FIRST_MS;
/** Time after which a pass without end counts as killed. */
const LONGEST_MS = 6 * EVERY_MS;
/** Pause after each portion, so that Redis serves other clients; a pass over 100,000 users takes some minutes. */
const PAUSE_MS = 50;

/** Starts the passes. @returns a function that stops them; a running pass ends before its next portion */
export function startProofPass(
  { clock, logger, random }: { clock: Clock; logger: Logger; random: () => number },
  states: readonly DesiredState[],
): () => Promise<void> {
  async function pass(state: DesiredState, signal: AbortSignal): Promise<void> {
    const { connection, proof } = state;
    // Several processes take turns: together they make about one pass an hour.
    if (!(await proof.takeTurn(LONGEST_MS))) return;
    // Stays 1 ms after a failure, so that the next process may try at once.
    let restMs = 1;
    try {
      const order = { by: 'service', pauseMs: PAUSE_MS, signal };
      const { faults, findings } = await proveConnection({ clock, logger }, state, order);
      const families = findings.map(({ family, fault, count }) => ({ family, fault, count }));
      if (faults === 0) logger.info({ connection }, 'derived data agrees with the records');
      else
        logger.error({ connection, faults, families }, 'derived data differs: run scim-bridge doctor --deep');
      restMs = REST_MS;
      await passLogs(state).catch(
        warn(state, signal, 'the logs could not be checked; the pass in an hour tries it again'),
      );
    } finally {
      await proof.endTurn(restMs);
    }
  }

  /** Returns a function that logs an error of a connection, unless the pass ends with the process. */
  const warn =
    ({ connection }: DesiredState, signal: AbortSignal, text: string) =>
    (error: unknown): void => {
      if (!signal.aborted) logger.warn({ connection, err: error as Error }, text);
    };

  async function passLogs(state: DesiredState): Promise<void> {
    const broken = (await tendLogs(state, clock.now())).filter((check) => check.broken !== null);
    for (const { log, broken: place } of broken)
      logger.error(
        { connection: state.connection, log, place },
        'a log entry was altered or taken out: run scim-bridge doctor',
      );
  }

  async function round(signal: AbortSignal): Promise<number> {
    for (const state of states)
      await pass(state, signal).catch(warn(state, signal, 'derived data could not be proven'));
    return EVERY_MS;
  }

  return startRounds(clock, round, FIRST_MS * (1 + random()));
}
