// A backup: one file of JSON lines. The first says what it is, the last how many lines there are and their SHA-256, so
// that a file that was cut or altered is refused before anything is touched.
//
// It is taken while the service runs. Each record, link and list is as of one moment between start and end; records that
// changed meanwhile are told once more at the end. What follows from records (indexes, the way back from platform ids,
// the second direction of memberships) is not in the file, it is built anew when the file is put back.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { ArchiveLine } from '../directory/archive.ts';
import type { DesiredState } from '../directory/desired-state.ts';

const FORMAT = 'scim-bridge backup';

export interface BackupHeader {
  format: typeof FORMAT;
  formatVersion: 1;
  /** ISO 8601. */
  createdAt: string;
  /** Connections with their targets. */
  connections: Record<string, string[]>;
}

interface BackupEnd {
  end: true;
  lines: number;
  /** Items by family, for people. */
  counts: Record<string, number>;
  sha256: string;
}

export type BackupLine = ArchiveLine & { connection: string };

export interface BackupReport {
  lines: number;
  counts: Record<string, number>;
  sha256: string;
}

/** Told now and then: how many items are done, of about how many. */
export type OnItems = (done: number, total: number) => void;

/** Writes everything of every connection to a new file that only its owner may read. */
export async function backup(
  states: readonly DesiredState[],
  file: string,
  createdAt: number,
  onItems: OnItems = () => undefined,
): Promise<BackupReport> {
  const out = await open(file, 'w', 0o600);
  const hash = createHash('sha256');
  const counts: Record<string, number> = {};
  let lines = 0;
  const write = async (value: object): Promise<void> => {
    const text = `${JSON.stringify(value)}\n`;
    hash.update(text);
    lines++;
    await out.write(text);
  };
  try {
    const connections = Object.fromEntries(
      states.map(({ connection, outboxes }) => [connection, [...outboxes.keys()]]),
    );
    const header: BackupHeader = {
      ...{ format: FORMAT, formatVersion: 1, createdAt: new Date(createdAt).toISOString(), connections },
    };
    await write(header);
    const total = await itemsIn(states);
    let done = 0;
    for (const { connection, archive } of states) {
      for await (const line of archive.dump()) {
        await write({ connection, ...line });
        const name = familyOf(line);
        if (!line.again) counts[name] = (counts[name] ?? 0) + line.items.length;
        done += line.items.length;
        onItems(Math.min(done, total), total);
      }
    }
    const sha256 = hash.digest('hex');
    const end: BackupEnd = { end: true, lines, counts, sha256 };
    await out.write(`${JSON.stringify(end)}\n`);
    await out.sync();
    return { lines, counts, sha256 };
  } finally {
    await out.close();
  }
}

/** What a line is counted as. */
export const familyOf = ({ family, key = '' }: ArchiveLine): string =>
  family === 'plain' ? (key.split(':')[0] ?? '') : family;

/** About: records with their links; the rest is little. */
async function itemsIn(states: readonly DesiredState[]): Promise<number> {
  const sizes = await Promise.all(
    states.map(async ({ directory, outboxes }) => {
      const [users, groups] = await Promise.all([directory.count('User'), directory.count('Group')]);
      return (users + groups) * (1 + outboxes.size);
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Thrown when a file is no backup, or not the one that was written. */
export class BrokenBackup extends Error {
  override name = 'BrokenBackup';
}

/**
 * Reads the whole file once and compares it with its last line.
 * @throws BrokenBackup
 */
export async function verifyBackup(file: string): Promise<{ header: BackupHeader; end: BackupReport }> {
  const hash = createHash('sha256');
  let header: unknown;
  let end: BackupEnd | undefined;
  let lines = 0;
  for await (const text of linesOf(file)) {
    if (end)
      throw new BrokenBackup('The backup goes on behind its end: it is not the file that was written.');
    const value = parsed(text);
    if (isEnd(value)) {
      end = value;
      continue;
    }
    header ??= value;
    hash.update(`${text}\n`);
    lines++;
  }
  if (!isHeader(header))
    throw new BrokenBackup(`This is no backup of scim-bridge, or one of a newer version.`);
  if (!end) throw new BrokenBackup('The backup has no end: it was cut, or it was never finished.');
  const sha256 = hash.digest('hex');
  if (end.lines !== lines || end.sha256 !== sha256)
    throw new BrokenBackup('The checksum of the backup does not fit: it was altered or damaged.');
  return { header, end };
}

/** Lines between the first and the last. */
export async function* contentOf(file: string): AsyncGenerator<BackupLine> {
  let isFirst = true;
  for await (const text of linesOf(file)) {
    const value = parsed(text);
    if (!isFirst && !isEnd(value)) yield value as BackupLine;
    isFirst = false;
  }
}

/** One at a time: readline would read a thousand lines ahead, and a line is a portion of hundreds of kilobytes. */
async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of createReadStream(file, { encoding: 'utf8' })) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield line.replace(/\r$/, '');
  }
  if (rest !== '') yield rest;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new BrokenBackup('The backup holds a line that is no JSON: it was altered or damaged.');
  }
}

const isEnd = (value: unknown): value is BackupEnd =>
  typeof value === 'object' && value !== null && (value as { end?: unknown }).end === true;

const isHeader = (value: unknown): value is BackupHeader => {
  const { format, formatVersion, connections } = (value ?? {}) as Partial<BackupHeader>;
  return format === FORMAT && formatVersion === 1 && typeof connections === 'object';
};
