// Runs the whole demo: starts the processes, tells the story, shows both sides, stops the processes.
import { systemClock } from '../support/sources.ts';
import { ATTRIBUTES } from './bridge-settings.ts';
import { compare } from './comparison.ts';
import { showAddresses, showOutcome } from './outcome.ts';
import { createScreen, type Screen } from './screen.ts';
import { createDemoProcesses, type DemoProcesses } from './processes.ts';
import { runStory } from './story.ts';

interface DemoOptions {
  /** Keeps all processes running afterwards, until Ctrl-C. */
  keep: boolean;
  env: NodeJS.ProcessEnv;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/**
 * Wait after an error, milliseconds. When a process ends, requests to it fail shortly before its exit is
 * reported, and the exit is the better reason to show.
 */
const REASON_MS = 250;
/** The wait for an interrupt is a series of sleeps of this length. */
const HOUR_MS = 3_600_000;
/** Takes the place of the name of a signal when the reader of standard output went away. */
const CLOSED = 'output closed';

/** Runs the demo. @returns the exit code: 0 when every expectation holds, else 1 */
export async function runDemo({ keep, env }: DemoOptions): Promise<number> {
  const screen = createScreen({ stream: process.stdout, env });
  const ends = listenForEnds();
  const { signal } = ends;
  const control = createDemoProcesses({ screen, env, signal, onLost: ends.onLost });
  let processes: DemoProcesses | undefined;
  try {
    screen.line(screen.paint('bold', 'scim-bridge: two identity providers, one bridge, one data platform'));
    screen.heading('Processes');
    processes = await control.start();
    showMapping(screen);
    const good = await play(processes, screen, signal);
    if (keep) {
      showAddresses(screen, processes);
      await ends.interrupted();
      screen.line();
    }
    return good ? 0 : 1;
  } catch (error) {
    await systemClock.sleep(REASON_MS, signal);
    const reason: unknown = signal.aborted ? signal.reason : error;
    console.error(`\n${reason instanceof Error ? reason.message : String(reason)}`);
    if (processes && !ends.isInterrupted()) showLog(processes);
    return 1;
  } finally {
    await control.stop();
    if (processes?.sharedRedis)
      screen.line(`\nIts keys stay in your Redis; their names contain ${processes.prefix}.`);
    ends.forget();
  }
}

/** Tells the story and shows the result. @returns whether every expectation holds */
async function play(processes: DemoProcesses, screen: Screen, signal: AbortSignal): Promise<boolean> {
  const result = await runStory(processes, screen, signal);
  const comparison = compare(result.company, await processes.platform.state());
  const good = showOutcome(screen, result, comparison, await processes.platform.calls());
  if (result.missing !== undefined) console.error(`\n${result.missing}`);
  if (!good) showLog(processes);
  return good;
}

function showMapping(screen: Screen): void {
  screen.heading('The mapping: what the platform knows of a person, and where it comes from');
  for (const [name, { type, from, expression }] of Object.entries(ATTRIBUTES)) {
    screen.line(`    ${name.padEnd(11)} ${type.padEnd(13)} ${from ?? expression ?? ''}`);
  }
}

function showLog(processes: DemoProcesses): void {
  console.error('The last lines of the bridge:');
  for (const line of processes.bridge.lastLines()) console.error(`  ${line}`);
}

/** Collects the reasons that end the demo early: an interrupt, or a process that ended. */
function listenForEnds() {
  const controller = new AbortController();
  const { signal } = controller;
  let interrupted = false;
  const interrupt = (name: string): void => {
    // A second signal exits at once. Child processes end with this process.
    if (interrupted && name !== CLOSED) process.exit(1);
    interrupted = true;
    controller.abort(new Error(`Interrupted (${name}): cleaning up.`));
  };
  // Writing fails after the reader of standard output has closed the pipe.
  process.stdout.on('error', () => interrupt(CLOSED));
  for (const name of SIGNALS) process.on(name, interrupt);
  return {
    signal,
    isInterrupted: () => interrupted,
    /** Resolves on Ctrl-C. @throws the reason when a process ended before */
    interrupted: async (): Promise<void> => {
      while (!signal.aborted) await systemClock.sleep(HOUR_MS, signal);
      if (!interrupted) throw signal.reason;
    },
    onLost: (reason: Error) => controller.abort(reason),
    /** Ends the handling of signals. */
    forget: () => {
      for (const name of SIGNALS) process.off(name, interrupt);
    },
  };
}
