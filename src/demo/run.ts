// Runs the whole demo: starts the processes, tells the story, shows both sides, stops the processes.
import { systemClock } from '../support/sources.ts';
import { ATTRIBUTES } from './bridge-settings.ts';
import { compare } from './comparison.ts';
import { showAddresses, showOutcome } from './outcome.ts';
import { createScreen, type Screen } from './screen.ts';
import { createStage, type DemoProcesses } from './stage.ts';
import { runStory } from './story.ts';

export interface DemoOptions {
  /** Keeps all processes running afterwards, until Ctrl-C. */
  keep: boolean;
  env: NodeJS.ProcessEnv;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/**
 * When a process ends, its callers fail shortly before its exit is reported; this is the wait for the reason,
 * milliseconds.
 */
const REASON_MS = 250;
const HOUR_MS = 3_600_000;
const CLOSED = 'output closed';

/** Runs the demo. @returns the exit code: 0 when both sides are equal at the end */
export async function runDemo({ keep, env }: DemoOptions): Promise<number> {
  const screen = createScreen({ stream: process.stdout, env });
  const ends = listenForEnds();
  const { signal } = ends;
  const house = createStage({ screen, env, signal, onLost: ends.onLost });
  let stage: DemoProcesses | undefined;
  try {
    screen.line(screen.paint('bold', 'scim-bridge: two identity providers, one bridge, one data platform'));
    screen.heading('The stage');
    stage = await house.raise();
    showMapping(screen);
    const good = await play(stage, screen, signal);
    if (keep) {
      showAddresses(screen, stage);
      await ends.interrupted();
      screen.line();
    }
    return good ? 0 : 1;
  } catch (error) {
    await systemClock.sleep(REASON_MS, signal);
    const reason: unknown = signal.aborted ? signal.reason : error;
    console.error(`\n${reason instanceof Error ? reason.message : String(reason)}`);
    if (stage && !ends.isInterrupted()) showLog(stage);
    return 1;
  } finally {
    await house.strike();
    if (stage?.sharedRedis)
      screen.line(`\nIts keys stay in your Redis; their names contain ${stage.prefix}.`);
    ends.forget();
  }
}

async function play(stage: DemoProcesses, screen: Screen, signal: AbortSignal): Promise<boolean> {
  const ending = await runStory(stage, screen, signal);
  const comparison = compare(ending.company, await stage.platform.state());
  const good = showOutcome(screen, ending, comparison, await stage.platform.calls());
  if (ending.missing !== undefined) console.error(`\n${ending.missing}`);
  if (!good) showLog(stage);
  return good;
}

function showMapping(screen: Screen): void {
  screen.heading('The mapping: what the platform knows of a person, and where it comes from');
  for (const [name, { type, from, expression }] of Object.entries(ATTRIBUTES)) {
    screen.line(`    ${name.padEnd(11)} ${type.padEnd(13)} ${from ?? expression ?? ''}`);
  }
}

function showLog(stage: DemoProcesses): void {
  console.error('The last lines of the bridge:');
  for (const line of stage.bridge.lastLines()) console.error(`  ${line}`);
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
  // The reader of standard output has closed the pipe.
  const unwatched = (): void => interrupt(CLOSED);
  process.stdout.on('error', unwatched);
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
    forget: () => {
      for (const name of SIGNALS) process.off(name, interrupt);
    },
  };
}
