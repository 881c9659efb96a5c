// Runs slow scenarios concurrently, each with a bridge of its own.

export type ScenarioStep<Context> = (
  name: string,
  run: (context: Context) => Promise<void>,
  limitMs?: number,
) => void;

/**
 * Must be called outside of `describe`: all scenarios of a file start before its first test. The steps of one
 * scenario run in order, and each test awaits its own step.
 */
export function createScenario<Context>(
  open: () => Context | Promise<Context>,
  close: (context: Context) => void | Promise<void>,
): ScenarioStep<Context> {
  const steps: { run: (context: Context) => Promise<void>; ended?: Promise<void> }[] = [];
  let opened: Promise<Context> | undefined;
  beforeAll(() => {
    const context = (opened = Promise.resolve(open()));
    let before: Promise<unknown> = context;
    for (const step of steps) {
      const ended = before.then(async () => step.run(await context));
      step.ended = ended;
      // A failure is reported by the test of its step; the next step runs nevertheless.
      before = ended.catch(() => undefined);
    }
  });
  afterAll(async () => {
    if (opened) await close(await opened);
  });
  return (name, run, limitMs) => {
    const step: (typeof steps)[number] = { run };
    steps.push(step);
    const awaitStep = async (): Promise<void> => {
      if (!step.ended) throw new Error('the scenario has not begun');
      await step.ended;
    };
    test(name, awaitStep, limitMs);
  };
}

/** Runs each test as a scenario with its own bridge and sandbox. */
export const createScenarios =
  <Context>(
    open: () => Context | Promise<Context>,
    close: (context: Context) => void | Promise<void>,
  ): ScenarioStep<Context> =>
  (...step) =>
    createScenario(open, close)(...step);
