// Merges the entries of several logs into one order, newest first, with a bounded number of entries in memory.
import type { ChainCheck } from '../../directory/logs/chain-check.ts';
import type { LogSpan, Placed, SearchedPortion } from '../../directory/logs/chained-stream.ts';
import { sequenceOf, timeOf } from '../../directory/redis/stream-id.ts';

/** A log to merge with others. */
interface NamedLog<Entry extends Placed, Where> {
  /** Part of the public ids of its entries. */
  name: string;
  /** Connection, or connection and target, which its entries get. */
  where: Where;
  search: (span: LogSpan) => AsyncGenerator<SearchedPortion<Entry>>;
}

/** Step of a search: an entry, or only the place up to which all logs were searched. `place`: public id. */
export interface SearchStep<Entry> {
  place: string;
  entry?: Entry;
}

/**
 * Part of the merged order. `since`, `until`: Unix milliseconds of the oldest and the newest entry. `before`: public id of an
 * entry; only older entries are read.
 */
export interface MergedSpan {
  since?: number | undefined;
  until?: number | undefined;
  before?: string | undefined;
}

/** Returns the public id of an entry: unique over all logs. */
export const publicId = (name: string, id: string): string => `${name}.${id}`;

/** Check of a hash chain. `broken`: id of the first entry that does not fit; `the end`: the last are missing; null: it is whole. */
export type PublicCheck = Omit<ChainCheck, 'broken'> & { broken: string | null };

/** Returns the check with a public id in place of the id of the stream. */
export function toPublicCheck(name: string, { broken, ...check }: ChainCheck): PublicCheck {
  const isId = broken !== undefined && /^\d/.test(broken);
  return { ...check, broken: isId ? publicId(name, broken) : (broken ?? null) };
}

/** Name of a log, a dot, and the id of an entry in its Redis stream. */
const PUBLIC_ID = /^(.+)\.(\d{1,15}-\d{1,15})$/;

export const isPublicId = (text: string): boolean => PUBLIC_ID.test(text);

/** Yields the entries of all logs, newest first; entries with equal ids in the order of the logs' names. */
export async function* newestFirst<Entry extends Placed, Where extends object>(
  logs: readonly NamedLog<Entry, Where>[],
  { since, until, before }: MergedSpan,
): AsyncGenerator<SearchStep<Entry & Where>> {
  // Without `before` the cursor has no id.
  const [, cursorName = '', cursorId] = PUBLIC_ID.exec(before ?? '') ?? [];
  const searches = logs.map(({ name, where, search }) => {
    // An entry with the same id as the cursor comes after it only in the logs whose names come later.
    const upTo = cursorId === undefined ? {} : { before: cursorId, withBefore: name > cursorName };
    return { name, where, places: singly(search({ since, until, ...upTo })) };
  });
  // `front`: the first step of the log that is not yielded yet: its newest entry, or a place.
  const fronts = await Promise.all(
    searches.map(async (each) => ({ ...each, front: await each.places.next() })),
  );
  for (;;) {
    // Each log is sorted, so the newest step that is left is the newest of the fronts.
    const firsts = fronts.flatMap((source) =>
      source.front.done ? [] : [{ source, step: source.front.value }],
    );
    const [newest] = firsts.sort(
      (one, other) => order(one.step.id, other.step.id) || (one.source.name < other.source.name ? -1 : 1),
    );
    if (!newest) return;
    const { source, step } = newest;
    const { name, where } = source;
    yield { place: publicId(name, step.id), ...(step.entry && { entry: { ...step.entry, ...where } }) };
    source.front = await source.places.next();
  }
}

/** Compares ids for a sort, newest first. */
const order = (one: string, other: string): number =>
  timeOf(other) - timeOf(one) || sequenceOf(other) - sequenceOf(one);

/** Yields the entries of portions one by one, and after each portion the place up to which the log was searched. */
async function* singly<Entry extends Placed>(
  portions: AsyncGenerator<SearchedPortion<Entry>>,
): AsyncGenerator<{ id: string; entry?: Entry }, void> {
  for await (const { entries, searchedTo } of portions) {
    for (const entry of entries) yield { id: entry.id, entry };
    yield { id: searchedTo };
  }
}
