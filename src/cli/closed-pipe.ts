// Ends a command without an error when the reader of its output has closed the pipe, as in `scim-bridge log | head -1`.
import { complain } from './output.ts';

/** Commands and subcommands that only print something. */
const SHOWING = new Set('acts backup exceptions explain export list log plan refused show status'.split(' '));

/** The part of commander's Command that is read. */
interface RunningCommand {
  name(): string;
  opts(): { verify?: boolean };
}

/**
 * A command that only shows something ends with exit code 0 when the reader of its output has closed the pipe. A command that
 * changes or verifies something continues without output, because its exit code is the result.
 * @returns a function that is called with the command before it runs; earlier output is only help or the version
 */
export function watchClosedPipe(process: NodeJS.Process): (command: RunningCommand) => void {
  let isShowing = true;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') {
      if (isShowing) process.exit(0);
      return;
    }
    complain(`Standard output cannot be written: ${error.message}.`);
    process.exit(1);
  });
  // Nothing reads the progress and error lines any more, so their write errors are ignored.
  process.stderr.on('error', () => undefined);
  return (command) => {
    isShowing = SHOWING.has(command.name()) && command.opts().verify !== true;
  };
}
