// A slow look at everything derived, about once an hour, in the process that keeps the timetable. It repairs nothing: what it
// finds is told by status, /health and a metric, and an operator decides.
import type { DesiredState } from '../directory/desired-state.ts';
import type { Finding } from '../directory/proof/findings.ts';
import type { Proof } from '../directory/proof/prove.ts';
import type { Clock } from '../support/clock.ts';
import type { Logger } from '../support/logger.ts';

const FIRST_MS = 5 * 60_000;
const EVERY_MS = 60 * 60_000;
/** A pass that takes longer was killed. */
const LONGEST_MS = 6 * EVERY_MS;
/** Rest after each portion: a pass over 100,000 people takes some minutes and is felt by nobody. */
const PAUSE_MS = 50;

/** @returns stop: ends the pass before its next portion */
export function startProofPass(
  { clock, logger, random }: { clock: Clock; logger: Logger; random: () => number },
  states: readonly DesiredState[],
): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function pass({ connection, proof }: DesiredState): Promise<void> {
    // Several schedulers take turns: the first one of an hour proves.
    if (!(await proof.takeTurn(LONGEST_MS))) return;
    let restMs = 1;
    try {
      const found = await proof.run({ repair: false, request: 'proof', pauseMs: PAUSE_MS, signal });
      await tell(connection, proof, found);
      restMs = EVERY_MS / 2;
    } finally {
      await proof.endTurn(restMs);
    }
  }

  async function tell(connection: string, proof: Proof, found: Finding[]): Promise<void> {
    const faults = found.reduce((sum, { count }) => sum + count, 0);
    await proof.keep({ endedAt: clock.now(), faults });
    const families = Object.fromEntries(
      found.map(({ family, fault, count }) => [`${family} ${fault}`, count]),
    );
    if (faults === 0) logger.info({ connection }, 'derived data agrees with the records');
    else logger.error({ connection, faults, families }, 'derived data differs: doctor --deep');
  }

  async function run(): Promise<void> {
    await clock.sleep(FIRST_MS * (1 + random()), signal);
    while (!signal.aborted) {
      for (const state of states) {
        await pass(state).catch((error: unknown) => {
          if (!signal.aborted) logger.warn({ err: error as Error }, 'derived data could not be proven');
        });
      }
      await clock.sleep(EVERY_MS, signal);
    }
  }

  const running = run().catch(() => undefined);
  return async () => {
    stopping.abort();
    await running;
  };
}
