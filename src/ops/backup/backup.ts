// Writes a backup as JSON lines: a header, the stored data, and an end line with count, SHA-256 and optional HMAC.
//
// The service may run meanwhile. Resources that changed during the backup are written again at its end.
// Derived data, such as indexes and reverse links, is not in the file; a restore rebuilds it.
import type { ArchiveLine } from '../../directory/archive/archive.ts';
import { divideItems } from '../../directory/archive/archive-line.ts';
import type { TargetFeed } from '../../directory/fleet/known-targets.ts';
import type { DesiredState } from '../../directory/desired-state.ts';
import { createChecksums, familyOf, FORMAT, MAX_LINE_BYTES, type BackupHeader } from './backup-format.ts';
import { isoTime } from '../../support/sources.ts';

export interface BackupReport {
  lines: number;
  /** Number of items by family (familyOf), for the report to the operator and the end line. */
  counts: Record<string, number>;
  sha256: string;
  /** Whether the file carries an HMAC. */
  signed: boolean;
  /** Redis keys of unknown families, which were left out. */
  leftOut: string[];
  /** Items that were left out, because a restore would refuse the whole file for them. */
  damaged: DamagedItem[];
}

/** Place of a damaged item; its content may be personal data. */
interface DamagedItem {
  connection: string;
  /** Redis key without prefix and connection, such as `users` or `links:main`. */
  key: string;
  /** Id or field of the item in the key; absent if the key has neither. */
  item?: string;
}

/** Called periodically with the number of finished items and an estimate of the total. */
export type OnItems = (done: number, total: number) => void;

interface BackupOptions {
  /** Unix milliseconds. */
  createdAt: number;
  /** `backup.key` of the settings. */
  key: string | null;
  /** Removed targets whose accounts and groups stay by order of an operator. */
  kept?: readonly TargetFeed[];
  onItems?: OnItems;
}

/** Approximate size of a line. A line with one large resource is longer. */
const LINE_BYTES = 1_000_000;

/** Writes all data of every connection, line by line. @throws Error for an item that is larger than a backup can hold */
export async function backup(
  states: readonly DesiredState[],
  write: (text: string) => Promise<void>,
  { createdAt, key, kept = [], onItems = () => undefined }: BackupOptions,
): Promise<BackupReport> {
  const checksums = createChecksums(key);
  const counts: Record<string, number> = {};
  const leftOut: string[] = [];
  const damaged = createDamagedItems();
  const put = async (text: string): Promise<void> => {
    checksums.add(text);
    await write(`${text}\n`);
  };
  const connections = Object.fromEntries(
    states.map(({ connection, outboxes }) => [connection, [...outboxes.keys()]]),
  );
  const header: BackupHeader = {
    format: FORMAT,
    formatVersion: 1,
    createdAt: isoTime(createdAt),
    connections,
    holds: await holdsOf(states),
    kept: [...kept],
  };
  await put(JSON.stringify(header));
  const total = await itemsIn(states);
  let done = 0;
  for (const { connection, archive } of states) {
    for await (const each of archive.dump((name) => leftOut.push(`${connection}: ${name}`))) {
      const items = divideItems(each);
      damaged.note(connection, each, items);
      if (items.sound.length === 0) continue;
      const line = { ...each, items: items.sound };
      for (const text of textsOf(connection, line)) await put(text);
      const name = familyOf(line);
      // A resource that changed during the backup is counted once.
      if (!line.again) counts[name] = (counts[name] ?? 0) + line.items.length;
      done += line.items.length;
      onItems(Math.min(done, total), total);
    }
  }
  const end = checksums.end(counts);
  await write(`${JSON.stringify(end)}\n`);
  return {
    lines: end.lines,
    counts,
    sha256: end.sha256,
    signed: end.hmac !== undefined,
    leftOut,
    damaged: damaged.all(),
  };
}

/** Collects which items are damaged: connection, key and item, without content. */
function createDamagedItems() {
  const places = new Map<string, DamagedItem>();
  return {
    /** Notes the damaged items of a line. */
    note(connection: string, line: ArchiveLine, { sound, damaged }: ReturnType<typeof divideItems>): void {
      const placesOf = (items: readonly unknown[]): DamagedItem[] =>
        items.map((item) => placeOf(connection, line, item));
      // A resource that changed during the backup has a second line (`again`). If that is sound, the backup has the resource.
      if (line.again) for (const place of placesOf(sound)) places.delete(textOf(place));
      else for (const place of placesOf(damaged)) places.set(textOf(place), place);
    },
    all: (): DamagedItem[] => [...places.values()],
  };
}

function placeOf(connection: string, { family, target, key, id }: ArchiveLine, item: unknown): DamagedItem {
  const name = key ?? [family, target, id].filter(Boolean).join(':');
  return { connection, key: name, ...(Array.isArray(item) ? { item: String(item[0]) } : {}) };
}

const textOf = (place: DamagedItem): string => Object.values(place).join(' ');

/** Returns the line, split if it is too long. @throws Error for an item that is larger than a backup can hold */
function textsOf(connection: string, line: ArchiveLine): string[] {
  const text = JSON.stringify({ connection, ...line });
  if (text.length > LINE_BYTES && line.items.length > 1) {
    const half = Math.ceil(line.items.length / 2);
    return [line.items.slice(0, half), line.items.slice(half)].flatMap((items) =>
      textsOf(connection, { ...line, items }),
    );
  }
  if (Buffer.byteLength(text) > MAX_LINE_BYTES)
    throw new Error(`One item of ${line.key ?? line.family} is larger than a backup can hold.`);
  return [text];
}

async function holdsOf(states: readonly DesiredState[]): Promise<NonNullable<BackupHeader['holds']>> {
  const holds: NonNullable<BackupHeader['holds']> = [];
  for (const { connection, outboxes } of states)
    for (const [target, { guardStore }] of outboxes) {
      const hold = await guardStore.operatorHold();
      if (hold) holds.push({ connection, target, ...hold });
    }
  return holds;
}

/** Estimates the number of items: records and links. */
async function itemsIn(states: readonly DesiredState[]): Promise<number> {
  const sizes = await Promise.all(
    states.map(async ({ directory, outboxes }) => {
      const [users, groups] = await Promise.all([directory.count('User'), directory.count('Group')]);
      return (users + groups) * (1 + outboxes.size);
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
