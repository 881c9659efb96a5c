// Checks the hash chain of a log (lua/log.lua writes it). The hash of each entry covers the hash of the entry before, so a changed
// or removed entry is detected. Both ends of the chain and the id of the very first entry are stored apart from the entries: they
// show whether entries are missing at an end, or that a log was deleted as a whole.
import { hash as digest } from 'node:crypto';
import type { Redis } from 'ioredis';
import { fieldOf } from '../redis/portions.ts';
import { timeOf } from '../redis/stream-id.ts';
import { checkPersonal, orderOf } from './split-entry.ts';
import { beginWholeRead } from './whole-read.ts';
import type { StoreDeps } from '../redis/scripts.ts';

/** Largest number of entries that one command reads. */
const PORTION = 100;

/** Result of a check of a whole chain. */
export interface ChainCheck {
  /** Number of entries before the break, or of all. */
  entries: number;
  /** Number of checked entries whose personal data the command forget removed. */
  forgotten: number;
  /**
   * Id of the first entry that was changed or follows a gap; `the end` when the newest entries, or all, are missing;
   * undefined when the chain is whole.
   */
  broken: string | undefined;
}

/** Keys of one log in Redis. */
interface ChainKeys {
  /** Stream of the entries: fields `e`, the text that the chain covers, and `h`, its hash. */
  stream: string;
  /** Hash with the fields `start` and `end`: the hash before the oldest entry, and the hash of the newest. */
  chain: string;
  /** Hash of the personal data by id of the entry. */
  personal: string;
  /** Id of the very first entry. */
  first: string;
}

interface ChainedEntry {
  id: string;
  text: string;
  hash: string;
  /** Stored personal data; null: none. */
  personal: string | null;
}

interface ChainPortion {
  /** `''`: the limits have not removed any entry yet. */
  start: string;
  /** `''`: there was no entry yet. */
  end: string;
  /** Null: nothing was appended yet. */
  firstId: string | null;
  /** Oldest first. */
  entries: ChainedEntry[];
}

/**
 * Returns whether an order to forget may have removed personal data.
 * @param at time of the entry that had the data, Unix milliseconds
 */
export type OrderTest = (order: string, at: number) => Promise<boolean>;

/**
 * Checks all entries and both ends of the chain.
 * @param isOrder tells whether an order removed personal data; other removals break the chain. Undefined: each order is accepted
 */
export async function checkChain(
  deps: StoreDeps,
  log: ChainKeys,
  isOrder: OrderTest = () => Promise.resolve(true),
): Promise<ChainCheck> {
  const end = await beginWholeRead(deps);
  try {
    return await checkPortions(deps.redis, log, isOrder);
  } finally {
    await end();
  }
}

async function checkPortions(redis: Redis, log: ChainKeys, isOrder: OrderTest): Promise<ChainCheck> {
  const check: ChainCheck = { entries: 0, forgotten: 0, broken: undefined };
  let after = '-';
  /** Hash before the next entry; undefined before the first portion. */
  let lastHash: string | undefined;
  for (;;) {
    const portion = await readPortion(redis, log, after);
    if (lastHash === undefined && lacksFirstEntry(portion))
      return { ...check, broken: portion.entries[0]?.id ?? 'the end' };
    lastHash ??= portion.start;
    for (const entry of portion.entries) {
      const isChained = chainHash(lastHash, entry.text) === entry.hash;
      const state = await personalState(entry, isOrder);
      if (!isChained || state === 'altered') return { ...check, broken: entry.id };
      check.entries += 1;
      if (state === 'forgotten') check.forgotten += 1;
      lastHash = entry.hash;
    }
    const newest = portion.entries.at(-1);
    if (newest === undefined || portion.entries.length < PORTION)
      return portion.end === lastHash ? check : { ...check, broken: 'the end' };
    // `(`: newer entries than this one.
    after = `(${newest.id}`;
  }
}

/** Returns whether the very first entry of a log is missing although the limits have not removed any entry yet. */
function lacksFirstEntry({ start, firstId, entries: [oldest] }: ChainPortion): boolean {
  if (start !== '' || firstId === null) return false;
  return oldest === undefined || timeOf(oldest.id) > timeOf(firstId);
}

/** Returns the state of the personal data of an entry; `altered` also if no order removed it. */
async function personalState({ id, text, personal }: ChainedEntry, isOrder: OrderTest) {
  const order = orderOf(personal);
  if (order !== undefined && !(await isOrder(order, timeOf(id)))) return 'altered';
  return checkPersonal(text, personal);
}

/**
 * Reads a portion, both ends of the chain and the id of the first entry in one transaction, because entries may be added
 * during the check. The personal data is read afterwards. @param after start of the range, as XRANGE takes it
 */
async function readPortion(
  redis: Redis,
  { stream, chain, personal, first }: ChainKeys,
  after: string,
): Promise<ChainPortion> {
  const replies = await redis
    .multi()
    .hmget(chain, 'start', 'end')
    .get(first)
    .xrange(stream, after, '+', 'COUNT', PORTION)
    .exec();
  const [[start, end], firstId, found] = (replies ?? []).map(([error, reply]) => {
    if (error) throw error;
    return reply;
  }) as [
    ends: [string | null, string | null],
    firstId: string | null,
    found: [id: string, fields: string[]][],
  ];
  const ids = found.map(([id]) => id);
  const texts = ids.length === 0 ? [] : await redis.hmget(personal, ...ids);
  const entries = found.map(([id, fields], index) => ({
    id,
    text: fieldOf(fields, 'e') ?? '{}',
    hash: fieldOf(fields, 'h') ?? '',
    personal: texts[index] ?? null,
  }));
  return { start: start ?? '', end: end ?? '', firstId, entries };
}

const chainHash = (before: string, text: string): string => digest('sha1', before + text);
