// Reads the lines of a backup file one at a time, and checks the form of each.
import type { FileHandle } from 'node:fs/promises';
import { faultOf } from '../../directory/archive/archive-line.ts';
import type { TargetFeed } from '../../directory/fleet/known-targets.ts';
import {
  FORMAT,
  MAX_LINE_BYTES,
  type BackupEnd,
  type BackupHeader,
  type BackupLine,
} from './backup-format.ts';

/** Thrown when a file is no backup or was changed. */
export class BrokenBackup extends Error {
  override name = 'BrokenBackup';
}

const LINE_FEED = 10;

/** Yields one line at a time with bounded memory. @throws BrokenBackup for a line that is too long */
export async function* textLines(file: FileHandle): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let size = 0;
  /** Number of the line that is read, from 1. */
  let number = 1;
  const endLine = (): string => {
    // A transfer of the file may have added carriage returns.
    const text = Buffer.concat(parts).toString('utf8').replace(/\r$/, '');
    parts = [];
    size = 0;
    number++;
    return text;
  };
  // The file is read several times, each time from its beginning.
  for await (const chunk of file.createReadStream({ start: 0, autoClose: false }) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      parts.push(chunk.subarray(start, end));
      yield endLine();
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > MAX_LINE_BYTES)
      throw new BrokenBackup(
        `Line ${number} of the file is longer than ${MAX_LINE_BYTES} bytes: this is no backup.`,
      );
  }
  if (size > 0) yield endLine();
}

/** Returns the JSON value of a line. @throws BrokenBackup for a line that is no JSON */
export function parseBackupLine(text: string, number: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new BrokenBackup(`Line ${number} of the backup is no JSON: it was altered or damaged.`);
  }
}

/** Checks the first line. @throws BrokenBackup when it is not a header of this version */
export function toBackupHeader(value: unknown): BackupHeader {
  const {
    format,
    formatVersion,
    createdAt,
    connections,
    holds = [],
    kept = [],
  } = (value ?? {}) as Partial<BackupHeader>;
  const isKnown = format === FORMAT && formatVersion === 1;
  const isWhole =
    typeof createdAt === 'string' &&
    !Number.isNaN(Date.parse(createdAt)) &&
    isObject(connections) &&
    Object.values(connections).every((targets) => Array.isArray(targets) && targets.every(isText)) &&
    Array.isArray(holds) &&
    holds.every(isHold) &&
    Array.isArray(kept) &&
    kept.every((feed) => isFeedOf(connections, feed));
  if (!isKnown || !isWhole)
    throw new BrokenBackup('This is no backup of scim-bridge, or one of a newer version.');
  return { format, formatVersion, createdAt: new Date(createdAt).toISOString(), connections, holds, kept };
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const isText = (value: unknown): value is string => typeof value === 'string';

/** Returns whether the value has a connection of the backup, and a target name that the settings accept. */
const isFeedOf = (connections: object, value: unknown): boolean => {
  const { connection, target } = (value ?? {}) as Partial<TargetFeed>;
  const isNamed = isText(target) && /^[^:{}\s]{1,200}$/.test(target);
  return isNamed && isText(connection) && Object.hasOwn(connections, connection);
};

const isHold = (value: unknown): boolean => {
  const { connection, target, by, note = '' } = (value ?? {}) as Record<string, unknown>;
  return [connection, target, by, note].every(isText);
};

export const isBackupEnd = (value: unknown): value is BackupEnd => {
  const { end, lines, counts, sha256, hmac } = (value ?? {}) as Partial<BackupEnd>;
  return (
    end === true &&
    typeof lines === 'number' &&
    isText(sha256) &&
    (hmac === undefined || isText(hmac)) &&
    isObject(counts) &&
    Object.values(counts).every((count) => typeof count === 'number')
  );
};

/** Checks a line with items. @throws BrokenBackup when it is malformed, or of a connection that the header does not name */
export function toBackupLine(value: unknown, { connections }: BackupHeader, number: number): BackupLine {
  const fault = faultOf(value);
  if (fault) throw new BrokenBackup(`Line ${number} of the backup ${fault}: it was altered or damaged.`);
  const line = value as BackupLine;
  if (!isText(line.connection) || !Object.hasOwn(connections, line.connection))
    throw new BrokenBackup(
      `Line ${number} of the backup is of a connection that its first line does not name.`,
    );
  return line;
}
