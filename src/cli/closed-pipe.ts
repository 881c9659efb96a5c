// Ends a command without an error when the reader of its output has closed the pipe, as in `scim-bridge log | head -1`.
import { complain } from './output.ts';

/** Commands and subcommands that only print something for a reader. */
const SHOWING = new Set('acts exceptions explain list log plan refused show status'.split(' '));
/** Commands and subcommands whose output, unless they write a file, is what the caller keeps. */
const EXPORTING = new Set(['backup', 'export']);

/** The part of commander's Command that is read. */
interface RunningCommand {
  name(): string;
  args: readonly string[];
  opts(): { verify?: boolean };
}

/**
 * Ends a command whose reader has closed the pipe. A command that only shows something ends with exit code 0, because its reader
 * has what it wanted. A backup or an export to standard output ends with exit code 1, because its reader has a part only. Every
 * other command continues without output, because its exit code is the result.
 * @returns a function that is called with the command before it runs; earlier output is only help or the version
 */
export function watchClosedPipe(process: NodeJS.Process): (command: RunningCommand) => void {
  let isShowing = true;
  let isExporting = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' && isExporting) {
      complain('The reader of standard output went away before the end: it has only a part of the data.');
      process.exit(1);
    }
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
    // Without a file, or with `-`, the output goes to standard output.
    const [file = '-'] = command.args;
    isExporting = EXPORTING.has(command.name()) && file === '-';
    // With --verify the exit code is the result.
    isShowing = SHOWING.has(command.name()) && command.opts().verify !== true;
  };
}
