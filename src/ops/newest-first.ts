// Merges the entries of several logs into one order, newest first, with a bounded number of entries in memory.
import type { Placed, LogSpan } from '../directory/logs/chained-stream.ts';

/** A log; `name` is part of the public ids of its entries. */
export interface LogOfSource<Entry extends Placed> {
  name: string;
  newest: (span: LogSpan) => AsyncGenerator<Entry[]>;
}

/** Part of the merged order. `before`: public id of an entry; only entries behind it are read. */
export interface MergedSpan {
  since?: number | undefined;
  until?: number | undefined;
  before?: string | undefined;
}

/** Returns the public id of an entry: unique over all logs. */
export const publicId = (name: string, id: string): string => `${name}.${id}`;

/** Returns the place of a break in a hash chain as the public id of an entry; `the end`; or null. */
export const publicBreak = (name: string, broken: string | undefined): string | null =>
  broken === undefined ? null : /^\d/.test(broken) ? publicId(name, broken) : broken;

const PUBLIC_ID = /^(.+)\.(\d{1,15}-\d{1,15})$/;

export const isPublicId = (text: string): boolean => PUBLIC_ID.test(text);

/** Yields the entries of all logs, newest first; entries with equal ids in the order of the logs' names. */
export async function* newestFirst<Entry extends Placed>(
  logs: readonly LogOfSource<Entry>[],
  { since, until, before }: MergedSpan,
): AsyncGenerator<Entry & { log: string }> {
  const [, cursorName = '', cursorId] = PUBLIC_ID.exec(before ?? '') ?? [];
  const heads = logs.map(({ name, newest }) => {
    const upTo = cursorId === undefined ? {} : { before: cursorId, withBefore: name > cursorName };
    return { name, entries: singly(newest({ since, until, ...upTo })) };
  });
  const fronts = await Promise.all(
    heads.map(async (head) => ({ ...head, front: await head.entries.next() })),
  );
  for (;;) {
    const left = fronts.flatMap((each) => (each.front.done ? [] : [{ each, entry: each.front.value }]));
    const [first] = left.sort((a, b) => order(a.entry, b.entry) || (a.each.name < b.each.name ? -1 : 1));
    if (!first) return;
    yield { ...first.entry, log: first.each.name };
    first.each.front = await first.each.entries.next();
  }
}

/** Compares for a sort, newest first. */
const order = (one: Placed, other: Placed): number =>
  other.at - one.at || serialOf(other.id) - serialOf(one.id);

const serialOf = (id: string): number => Number(id.slice(id.indexOf('-') + 1));

async function* singly<Entry>(portions: AsyncGenerator<Entry[]>): AsyncGenerator<Entry, void> {
  for await (const portion of portions) yield* portion;
}
