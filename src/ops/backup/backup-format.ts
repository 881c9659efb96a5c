// Defines the format of a backup: a header, lines with items, and an end line with the checksums over the lines before it.
import { createHash, createHmac } from 'node:crypto';
import type { ArchiveLine } from '../../directory/archive/archive.ts';
import type { TargetFeed } from '../../directory/fleet/known-targets.ts';
import type { OperatorHold } from '../../directory/guard/operator-hold.ts';

export const FORMAT = 'scim-bridge backup';
/** Longest line of a backup. The limit bounds the memory of a restore. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

/** The first line of a backup. */
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

/** The last line of a backup. */
export interface BackupEnd {
  end: true;
  /** Number of lines before this one, and their SHA-256. */
  lines: number;
  sha256: string;
  /** Number of items by family (ArchiveLine). A restore shows its progress by their sum. */
  counts: Record<string, number>;
  /** HMAC-SHA256 with `backup.key` over all lines and the fields above. */
  hmac?: string;
}

/** A line with items of one connection; all lines but the first and the last one are of this form. */
export type BackupLine = ArchiveLine & { connection: string };

/** Returns the name under which the items of a line are counted; of a `plain` line the part of its key before the first colon. */
export const familyOf = ({ family, key = '' }: ArchiveLine): string =>
  family === 'plain' ? (key.split(':')[0] ?? '') : family;

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
