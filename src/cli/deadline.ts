// Reads the option --deadline, the longest duration of a command.
import type { Command } from 'commander';
import { parseDuration } from '../config/forms.ts';

export interface DeadlineFlags {
  /** As typed, such as `90s`. */
  deadline?: string;
}

/** Longest timer of Node.js, milliseconds. */
export const MAX_MS = 2 ** 31 - 1;

export const withDeadline = (command: Command): Command =>
  command.option(
    '--deadline <duration>',
    'end after this time at the latest, such as 90s, 10m or 2h; exit 1',
  );

/**
 * Returns milliseconds; undefined without the option. A number without a unit is seconds.
 * @throws Error unless it is a duration above 0 and of at most 24 days
 */
export function deadlineOf({ deadline }: DeadlineFlags): number | undefined {
  if (deadline === undefined) return undefined;
  const ms = parseDuration(/^\d+$/.test(deadline) ? `${deadline}s` : deadline);
  if (ms !== undefined && ms > MAX_MS) throw new Error('--deadline is at most 24d.');
  if (ms === undefined)
    throw new Error('--deadline is a number above 0 with s, m, h or d, such as 90s, 10m or 2h.');
  return ms;
}
