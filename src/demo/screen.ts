// Prints the progress of the demo: steps with a tick, a progress bar, plain lines.
import { styleText } from 'node:util';
import { SingleBar } from 'cli-progress';

type Style = 'bold' | 'dim' | 'green' | 'red';

export interface Screen {
  paint: (style: Style, text: string) => string;
  line: (text?: string) => void;
  heading: (text: string) => void;
  /** Prints a line with a tick. */
  done: (name: string, outcome: string) => void;
  /** Prints `name` at once, and a tick with the outcome when `work` is done. */
  step: <T>(name: string, work: () => Promise<T>, outcome: (result: T) => string) => Promise<T>;
  /** Like `step`, with a progress bar; `work` reports its progress. */
  count: <T>(
    name: string,
    total: number,
    work: (onProgress: (count: number) => void) => Promise<T>,
    outcome: (result: T) => string,
  ) => Promise<T>;
}

interface ScreenOptions {
  stream: NodeJS.WriteStream;
  env: NodeJS.ProcessEnv;
}

const NAME_WIDTH = 10;

/** Creates the screen. On a terminal lines are updated in place; otherwise each line is written once, when it is final. */
export function createScreen({ stream, env }: ScreenOptions): Screen {
  const live = stream.isTTY === true && env.TERM !== 'dumb';
  const colours = live && !env.NO_COLOR;
  const paint: Screen['paint'] = (style, text) => (colours ? styleText(style, text) : text);
  const line: Screen['line'] = (text = '') => void stream.write(`${text}\n`);
  const done: Screen['done'] = (name, outcome) =>
    line(`  ${paint('green', '✔')} ${name.padEnd(NAME_WIDTH)} ${outcome}`);

  /** Waits for the work, removes its progress display with `clear`, and prints the outcome. */
  async function settle<T>(
    name: string,
    work: () => Promise<T>,
    clear: () => void,
    outcome: (result: T) => string,
  ): Promise<T> {
    try {
      const result = await work();
      clear();
      done(name, outcome(result));
      return result;
    } catch (error) {
      clear();
      line(`  ${paint('red', '✘')} ${name.trimEnd()}`);
      throw error;
    }
  }

  const step: Screen['step'] = (name, work, outcome) => {
    if (!live) return settle(name, work, () => undefined, outcome);
    stream.write(`  ${paint('dim', '…')} ${name}`);
    // Moves the cursor to the start of the line, and erases the line.
    const clearLine = (): void => void stream.write('\r\u001b[2K');
    return settle(name, work, clearLine, outcome);
  };

  const count: Screen['count'] = (name, total, work, outcome) => {
    if (!live) return step(name, () => work(() => undefined), outcome);
    const bar = new SingleBar({
      format: `  ${paint('dim', '…')} ${name.trimEnd()}  {bar} {value}/{total}`,
      stream,
      hideCursor: true,
      barCompleteChar: '━',
      barIncompleteChar: '╌',
      barsize: 24,
      clearOnComplete: true,
      gracefulExit: false,
    });
    bar.start(total, 0);
    return settle(
      name,
      () => work((value) => bar.update(value)),
      () => bar.stop(),
      outcome,
    );
  };

  const heading: Screen['heading'] = (text) => line(`\n${paint('bold', text)}`);
  return { paint, line, heading, done, step, count };
}
