// Runs slow scenarios concurrently, each with a bridge of its own.
import { setTimeout as sleep } from 'node:timers/promises';

export type ScenarioStep<Context> = (
  name: string,
  run: (context: Context) => Promise<void>,
  limitMs?: number,
) => void;

/** Starts the scenarios of this test file. */
const scenarios: (() => Promise<unknown>)[] = [];
/** Limit of all scenarios of a file together; each step has its own. */
const ALL_MS = 900_000;
const STEP_MS = 60_000;

/**
 * Must be called outside of `describe`: all scenarios of a file run before its first test. The steps of one scenario
 * run in order, and each test reports its own step.
 */
export function createScenario<Context>(
  open: () => Context | Promise<Context>,
  close: (context: Context) => void | Promise<void>,
): ScenarioStep<Context> {
  const steps: { run: (context: Context) => Promise<void>; ended?: Promise<void> }[] = [];
  let closed: Promise<void> | undefined;
  // Between two tests Jest refuses the dynamic imports of commands, so all scenarios end within one hook.
  if (scenarios.length === 0) beforeAll(() => Promise.all(scenarios.map((start) => start())), ALL_MS);
  scenarios.push(() => {
    const context = Promise.resolve(open());
    let before: Promise<unknown> = context;
    for (const step of steps) {
      const ended = before.then(async () => step.run(await context));
      step.ended = ended;
      // A failure is reported by the test of its step; the next step runs nevertheless.
      before = ended.catch(() => undefined);
    }
    closed = before.then(async () => close(await context));
    return closed.catch(() => undefined);
  });
  afterAll(() => closed);
  return (name, run, limitMs = STEP_MS) => {
    const step: (typeof steps)[number] = { run: (context) => withinLimit(run(context), limitMs) };
    steps.push(step);
    test(name, async () => {
      if (!step.ended) throw new Error('the scenario has not begun');
      await step.ended;
    });
  };
}

async function withinLimit(run: Promise<void>, limitMs: number): Promise<void> {
  const timer = new AbortController();
  const tooLate = sleep(limitMs, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`not done within ${limitMs} ms`);
  });
  tooLate.catch(() => undefined);
  await Promise.race([run, tooLate]).finally(() => timer.abort());
}

/** Runs each test as a scenario with its own bridge and sandbox. */
export const createScenarios =
  <Context>(
    open: () => Context | Promise<Context>,
    close: (context: Context) => void | Promise<void>,
  ): ScenarioStep<Context> =>
  (...step) =>
    createScenario(open, close)(...step);
