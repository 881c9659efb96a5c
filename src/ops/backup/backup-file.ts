// Reads backup files line by line and checks every line and checksum before a restore changes Redis.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { faultOf } from '../../directory/archive/archive-line.ts';
import type { ArchiveLine } from '../../directory/archive/archive.ts';
import type { TargetFeed } from '../../directory/fleet/known-targets.ts';
import type { OperatorHold } from '../../directory/guard/operator-hold.ts';
import { isoTime, LATEST_MS } from '../../support/sources.ts';

export const FORMAT = 'scim-bridge backup';
/** Longest line of a backup. The limit bounds the memory of a restore. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

export interface BackupHeader {
  format: typeof FORMAT;
  formatVersion: 1;
  /** ISO 8601. */
  createdAt: string;
  /** Connections with their targets. */
  connections: Record<string, string[]>;
  /** Holds of operators; absent: none. */
  holds?: (TargetFeed & OperatorHold)[];
  /** Removed targets whose accounts and groups stay by order of an operator; absent: none. */
  kept?: TargetFeed[];
}

interface BackupEnd {
  end: true;
  /** Number of lines before this one, and their SHA-256. */
  lines: number;
  sha256: string;
  /** Items by family (ArchiveLine), for people. */
  counts: Record<string, number>;
  /** HMAC-SHA256 with `backup.key` over all lines and the fields above. */
  hmac?: string;
}

export type BackupLine = ArchiveLine & { connection: string };

/** An inbound token in a backup. A restored token authenticates pushes to its connection. */
export interface TokenInBackup {
  connection: string;
  name: string;
  createdBy: string;
  createdAt: string;
  /** null = never. */
  expiresAt: string | null;
}

/** Facts about a backup file after every line was checked. */
export interface CheckedBackup {
  header: BackupHeader;
  end: BackupEnd;
  tokens: TokenInBackup[];
  /** Checked lines with tokens; the restore uses exactly these. */
  tokenLines: BackupLine[];
  /** Result of the check of the HMAC; `missing`: the file has none; `unknown`: the settings have no key to check it with. */
  proof: 'valid' | 'invalid' | 'missing' | 'unknown';
}

/** Thrown when a file is no backup or was changed. */
class BrokenBackup extends Error {
  override name = 'BrokenBackup';
}

/** Returns the name under which the items of a line are counted; of a `plain` line the part of its key before the first colon. */
export const familyOf = ({ family, key = '' }: ArchiveLine): string =>
  family === 'plain' ? (key.split(':')[0] ?? '') : family;

/** Returns whether a line has inbound tokens, or the times of their last use. */
const isTokenLine = ({ family, key }: ArchiveLine): boolean =>
  family === 'plain' && (key === 'tokens' || key === 'tokenUses');

/**
 * Computes the checksums over lines, in the order in which they are added.
 * @param key of the HMAC; null: none is computed
 */
export function createChecksums(key: string | null) {
  const hash = createHash('sha256');
  const hmac = key === null ? undefined : createHmac('sha256', key);
  let lines = 0;
  return {
    add(text: string): void {
      hash.update(`${text}\n`);
      hmac?.update(`${text}\n`);
      lines++;
    },
    end(counts: Record<string, number>): BackupEnd {
      // The HMAC covers this text, so the order of the properties is a part of the format.
      const end: BackupEnd = { end: true, lines, counts, sha256: hash.digest('hex') };
      return hmac ? { ...end, hmac: hmac.update(JSON.stringify(end)).digest('hex') } : end;
    },
  };
}

/**
 * Reads the whole file and checks every line of it: form, families, ids, values, checksums.
 * @throws BrokenBackup, naming the line
 */
export async function checkBackup(file: FileHandle, key: string | null): Promise<CheckedBackup> {
  const checksums = createChecksums(key);
  const tokenLines: BackupLine[] = [];
  let header: BackupHeader | undefined;
  let end: BackupEnd | undefined;
  let number = 0;
  for await (const text of linesOf(file)) {
    number++;
    if (end)
      throw new BrokenBackup('The backup goes on behind its end: it is not the file that was written.');
    const value = parsed(text, number);
    if (!header) {
      header = headerOf(value);
      checksums.add(text);
    } else if (isEnd(value)) end = value;
    else {
      const line = lineOf(value, header, number);
      if (isTokenLine(line)) tokenLines.push(line);
      checksums.add(text);
    }
  }
  if (!header) throw new BrokenBackup('The file is empty.');
  if (!end) throw new BrokenBackup('The backup has no end: it was cut, or it was never finished.');
  const computed = checksums.end(end.counts);
  if (end.lines !== computed.lines || end.sha256 !== computed.sha256)
    throw new BrokenBackup('The checksum of the backup does not fit: it was altered or damaged.');
  return { header, end, tokenLines, tokens: tokenLines.flatMap(tokensIn), proof: proofOf(end, computed) };
}

function proofOf(given: BackupEnd, computed: BackupEnd): CheckedBackup['proof'] {
  if (computed.hmac === undefined) return 'unknown';
  if (given.hmac === undefined) return 'missing';
  const givenHmac = Buffer.from(given.hmac, 'hex');
  const computedHmac = Buffer.from(computed.hmac, 'hex');
  // timingSafeEqual throws for different lengths.
  if (givenHmac.length !== computedHmac.length) return 'invalid';
  return timingSafeEqual(givenHmac, computedHmac) ? 'valid' : 'invalid';
}

/** @throws BrokenBackup when the first line is not a header of this version */
function headerOf(value: unknown): BackupHeader {
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

const isEnd = (value: unknown): value is BackupEnd => {
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

/** @throws BrokenBackup when a line is malformed, or of a connection that the header does not name */
function lineOf(value: unknown, { connections }: BackupHeader, number: number): BackupLine {
  const fault = faultOf(value);
  if (fault) throw new BrokenBackup(`Line ${number} of the backup ${fault}: it was altered or damaged.`);
  const line = value as BackupLine;
  if (!isText(line.connection) || !Object.hasOwn(connections, line.connection))
    throw new BrokenBackup(
      `Line ${number} of the backup is of a connection that its first line does not name.`,
    );
  return line;
}

/** Returns the tokens of a line; none for a line of another family. */
function tokensIn({ connection, key, items }: BackupLine): TokenInBackup[] {
  if (key !== 'tokens') return [];
  return (items as [string, string][]).map(([name, text]) => {
    const { createdAt, createdBy, expiresAt } = JSON.parse(text) as Record<string, unknown>;
    // A time outside the range of Date would throw.
    const time = (ms: number): string => isoTime(Math.min(Math.max(ms, 0), LATEST_MS));
    return {
      connection,
      name,
      createdBy: String(createdBy),
      createdAt: time(Number(createdAt)),
      expiresAt: typeof expiresAt === 'number' ? time(expiresAt) : null,
    };
  });
}

/** Yields the lines of a checked file between its first line (the header) and its end, without tokens. */
export async function* contentOf(file: FileHandle, header: BackupHeader): AsyncGenerator<BackupLine> {
  let number = 0;
  for await (const text of linesOf(file)) {
    const value = parsed(text, ++number);
    if (number === 1 || isEnd(value)) continue;
    const line = lineOf(value, header, number);
    if (!isTokenLine(line)) yield line;
  }
}

const LINE_FEED = 10;

/** Yields one line at a time with bounded memory. @throws BrokenBackup for a line that is too long */
async function* linesOf(file: FileHandle): AsyncGenerator<string> {
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

function parsed(text: string, number: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new BrokenBackup(`Line ${number} of the backup is no JSON: it was altered or damaged.`);
  }
}
