// Creates the logger of commands, which writes log lines as plain text to standard error: warnings and errors, and in doctor
// information too.
import { createLogger, type Logger } from '../support/logger.ts';
import { complain } from './output.ts';

/**
 * Messages that are not printed, because a command reports both at its end: that Redis does not answer, and which resources became
 * dead letters. The command names these resources; a log line has only their ref (docs/glossary.md).
 */
const REPORTED_BY_COMMAND: ReadonlySet<string | undefined> = new Set([
  'redis away, connecting again',
  'needs a person: see scim-bridge dead-letters list',
]);

export const createCommandLogger = (level: 'warn' | 'info'): Logger =>
  createLogger(level, {
    write: (lines) => {
      for (const line of lines.split('\n')) {
        const text = line === '' ? undefined : logText(line);
        if (text !== undefined) complain(text);
      }
    },
  });

/**
 * Returns the message of a log line, with the ref of the resource and the reason if it has them; undefined for events that the
 * command reports itself.
 */
function logText(line: string): string | undefined {
  const entry = JSON.parse(line) as {
    msg?: string;
    ref?: string;
    reason?: string;
    err?: { message?: string };
  };
  if (REPORTED_BY_COMMAND.has(entry.msg)) return undefined;
  const reason = entry.reason ?? entry.err?.message;
  const subject = entry.ref === undefined ? '' : `${entry.ref}: `;
  return `${subject}${entry.msg ?? ''}${reason === undefined ? '' : `: ${reason}`}`;
}
