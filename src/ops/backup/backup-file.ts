// Reads a backup file: checks every line and checksum before a restore changes Redis (`checkBackup`), and yields the lines for the
// restore (`contentOf`).
import { timingSafeEqual } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { ArchiveLine } from '../../directory/archive/archive.ts';
import { isoTime, LATEST_MS } from '../../support/sources.ts';
import { createChecksums, type BackupEnd, type BackupHeader, type BackupLine } from './backup-format.ts';
import {
  BrokenBackup,
  isBackupEnd,
  parseBackupLine,
  textLines,
  toBackupHeader,
  toBackupLine,
} from './backup-lines.ts';

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
  for await (const text of textLines(file)) {
    number++;
    if (end)
      throw new BrokenBackup('The backup goes on behind its end: it is not the file that was written.');
    const value = parseBackupLine(text, number);
    if (!header) {
      header = toBackupHeader(value);
      checksums.add(text);
    } else if (isBackupEnd(value)) end = value;
    else {
      const line = toBackupLine(value, header, number);
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
  for await (const text of textLines(file)) {
    const value = parseBackupLine(text, ++number);
    if (number === 1 || isBackupEnd(value)) continue;
    const line = toBackupLine(value, header, number);
    if (!isTokenLine(line)) yield line;
  }
}

/** Returns whether a line has inbound tokens, or the times of their last use. */
const isTokenLine = ({ family, key }: ArchiveLine): boolean =>
  family === 'plain' && (key === 'tokens' || key === 'tokenUses');
