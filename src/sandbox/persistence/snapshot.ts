// Writes and reads snapshots of the sandbox as lines of JSON: a header, one line `[part, entry]` per entry, and the last
// line `{"entries": count}`, without which a snapshot is incomplete.
import { isJsonObject, own, type SandboxJsonObject } from '../json.ts';
import type { SandboxSettings } from '../settings.ts';
import type { State } from '../state.ts';
import { partsOf } from './parts.ts';
import { decode, encode } from './plain.ts';

/** Version of the snapshot format; a snapshot of another version is refused. */
const FORMAT = 1;
/** Number of entries in one piece of text. The writer (data-folder.ts) lets requests run between two pieces. */
const SLICE = 500;

/** Saved values that are not part of the state. */
export interface Surroundings {
  /** Name of the seed (seed.ts) that the state was last reset to. */
  readonly seed: string;
  readonly settings: SandboxSettings;
  readonly clockOffsetMs: number;
  /** Secrets of the seed by name, so that a later reset gives the same keys. */
  readonly secrets: readonly (readonly [string, string])[];
}

/**
 * Yields the snapshot in pieces of text. All entries are collected at the first `next`, so that they are
 * consistent; they are encoded SLICE at a time.
 */
export function* snapshotPieces(state: State, around: Surroundings): Generator<string> {
  const parts = [...partsOf(state)].map(([name, part]) => [name, part.dump()] as const);
  yield `${JSON.stringify({ format: FORMAT, ...(encode(around) as SandboxJsonObject) })}\n`;
  let count = 0;
  for (const [name, entries] of parts) {
    for (let start = 0; start < entries.length; start += SLICE) {
      const slice = entries.slice(start, start + SLICE);
      count += slice.length;
      yield slice.map((entry) => `${JSON.stringify([name, encode(entry)])}\n`).join('');
    }
  }
  yield `${JSON.stringify({ entries: count })}\n`;
}

function headerOf(line: unknown): Surroundings {
  const header = decode(line);
  if (!isJsonObject(header) || own(header, 'format') !== FORMAT) {
    throw new Error('it was written by another version of the sandbox');
  }
  const { format: _format, ...around } = header;
  return around as unknown as Surroundings;
}

/** Fills an empty state from the lines of a snapshot. @throws if it is incomplete, of another version or has an unknown part */
export async function readSnapshot(
  lines: Iterable<string> | AsyncIterable<string>,
  state: State,
): Promise<Surroundings> {
  const parts = partsOf(state);
  const found = new Map<string, unknown[]>();
  let around: Surroundings | undefined;
  let count = 0;
  let isWhole = false;
  for await (const line of lines) {
    const parsed: unknown = JSON.parse(line);
    if (!around) around = headerOf(parsed);
    else if (Array.isArray(parsed)) {
      const [name, entry] = parsed as [string, unknown];
      const entries = found.get(name) ?? [];
      entries.push(decode(entry));
      found.set(name, entries);
      count += 1;
    } else isWhole = isJsonObject(parsed) && own(parsed, 'entries') === count;
  }
  if (!around || !isWhole) throw new Error('it is not complete');
  for (const [name, entries] of found) {
    const part = parts.get(name);
    if (!part) throw new Error(`it holds a part named ${name} that this sandbox does not know`);
    part.restore(entries);
  }
  return around;
}
