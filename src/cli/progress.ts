// Shows the progress of long work on standard error: a bar on a terminal, otherwise a line every few seconds.
import { Presets, SingleBar } from 'cli-progress';
import { complain } from './output.ts';

interface ProgressState {
  /** Name of the part of the work, such as `users`. */
  phase: string;
  /** Number of items of this part that are done, of `total`. */
  done: number;
  total: number;
}

interface ProgressLine {
  show: (progress: ProgressState) => void;
  /** Prints above the bar why the work does not advance. */
  note: (text: string) => void;
  /** Removes the bar, if there is one. */
  end: () => void;
}

/** Shortest time between two lines. */
const QUIET_MS = 3000;

/** @param what put before every line, such as the connection and target */
export function createProgressLine(what: string): ProgressLine {
  return process.stderr.isTTY ? createBar(what) : createLines(what);
}

function createBar(what: string): ProgressLine {
  const format = `${what} {phase} {bar} {value}/{total}`;
  const bar = new SingleBar(
    { format, stream: process.stderr, clearOnComplete: true },
    Presets.shades_classic,
  );
  let started = false;
  return {
    show: ({ phase, done, total }) => {
      if (!started) bar.start(total, done, { phase });
      started = true;
      bar.setTotal(total);
      bar.update(done, { phase });
    },
    note: (text) => {
      bar.stop();
      started = false;
      complain(`${what}: ${text}`);
    },
    end: () => bar.stop(),
  };
}

/** Prints a line every QUIET_MS, so nothing for work that ends before. The last line of longer work has its last state. */
function createLines(what: string): ProgressLine {
  let saidAt = Date.now();
  let hasSaid = false;
  /** The newest state, if no line has it. */
  let unsaid: ProgressState | undefined;
  const sayState = ({ phase, done, total }: ProgressState): void => {
    saidAt = Date.now();
    hasSaid = true;
    unsaid = undefined;
    complain(`${what}: ${phase} ${done} of ${total}`);
  };
  return {
    show: (state) => {
      unsaid = state;
      if (Date.now() - saidAt >= QUIET_MS) sayState(state);
    },
    note: (text) => {
      saidAt = Date.now();
      complain(`${what}: ${text}`);
    },
    end: () => {
      if (hasSaid && unsaid) sayState(unsaid);
      hasSaid = false;
      unsaid = undefined;
    },
  };
}
