// Ends a command quietly when its reader has left, as in `scim-bridge log | head -1`: a closed pipe is no error.
import { complain } from './output.ts';

/** Commands and subcommands that only print something. */
const SHOWING = new Set('acts backup exceptions explain export list log plan refused show status'.split(' '));

/** The part of a parsed command that decides whether the command may end before it is complete. */
interface Started {
  name(): string;
  opts(): { verify?: boolean };
}

/**
 * A command that only shows something ends with exit code 0 when the reader of its output has closed the pipe. A command that
 * changes or verifies something continues without output, because its exit code is the result.
 * @returns the function that takes the command that runs; before that, only help and version are printed
 */
export function watchClosedPipe(process: NodeJS.Process): (command: Started) => void {
  let isShowing = true;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') {
      if (isShowing) process.exit(0);
      return;
    }
    complain(`Standard output cannot be written: ${error.message}.`);
    process.exit(1);
  });
  // Progress and error lines have no reader any more, so their write errors are ignored.
  process.stderr.on('error', () => undefined);
  return (command) => {
    isShowing = SHOWING.has(command.name()) && command.opts().verify !== true;
  };
}
