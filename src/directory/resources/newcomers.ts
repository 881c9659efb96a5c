// Stores new users. All that arrive in one turn of the event loop are stored together by one script (ADR 0020).
import type { IndexEntry } from './indexes.ts';
import type { Scripts } from '../redis/scripts.ts';

export interface Newcomer {
  /** Made for this user just now. */
  id: string;
  /** As it shall be stored (records.ts). */
  record: string;
  entries: IndexEntry[];
  /** Correlation id of the push. */
  request: string;
}

/** So many leave together at most: while Redis stores them, the next ones come in (ADR 0016). */
const MOST = 8;
/** Families of index entries in which several users may have one value. */
const SHARED = new Set(['e', 'sharedExternalIds:User']);
/** The families of userNames: a value has one holder in both of them. */
const NAMES = ['m', 'u'];
/** Tag of the answer for a user who is stored; the groups follow. */
export const STORED = 'stored ';

/** One for each user; an Error is the failure of that user alone. */
type Answers = (string | Error)[];

/** How create_users.lua answers. */
type Reply = 'stored' | ['stored', ...answers: string[]] | ['refused', ...idsAndReasons: string[]];

/**
 * @param standing arguments that are the same for all, as JSON
 * @returns stores one of them; answers `stored groups`, or why not: `taken family id` or `stale`
 */
export function createNewcomers(
  { scripts, base }: { scripts: Scripts; base: string },
  standing: string,
): (newcomer: Newcomer) => Promise<string> {
  async function storeAll(users: Newcomer[]): Promise<Answers> {
    const rival = firstRival(users);
    if (rival > 0) {
      const before = await storeAll(users.slice(0, rival));
      return [...before, ...(await storeRest(users.slice(rival)))];
    }
    const texts = arrange(users, standing);
    const reply = (await scripts.send('create_users', base, texts)) as Reply;
    if (reply === 'stored') return users.map(() => STORED);
    const [tag, ...rest] = reply;
    return tag === 'stored' ? rest : storeOthers(users, rest);
  }

  /** A refused user does not keep the others from being stored. */
  async function storeOthers(users: Newcomer[], idsAndReasons: string[]): Promise<Answers> {
    const reasons = new Map<string, string>();
    for (let at = 0; at < idsAndReasons.length; at += 2) {
      reasons.set(idsAndReasons[at] ?? '', idsAndReasons[at + 1] ?? '');
    }
    const others = users.filter(({ id }) => !reasons.has(id));
    const stored = others.length > 0 ? await storeRest(others) : [];
    return users.map(({ id }) => reasons.get(id) ?? stored.shift() ?? '');
  }

  /** The outcomes of the calls before them stay, whatever happens now. */
  const storeRest = (users: Newcomer[]): Promise<Answers> =>
    storeAll(users).catch((error: unknown) => users.map(() => error as Error));

  return scripts.batch(storeAll, MOST);
}

/** The first of them who wants a userName or externalId that one before wants too; -1 = nobody. */
function firstRival(users: Newcomer[]): number {
  if (users.length === 1) return -1;
  const wanted = new Set<string>();
  return users.findIndex(({ entries }) =>
    entries.some(([family, value]) => {
      if (SHARED.has(family)) return false;
      const name = `${NAMES.includes(family) ? 'name' : family} ${value}`;
      if (wanted.has(name)) return true;
      wanted.add(name);
      return false;
    }),
  );
}

/** The texts that create_users.lua reads. */
function arrange(users: Newcomer[], standing: string): string[] {
  // Of several reasons the userName is told.
  const columns = new Map(NAMES.map((family) => [family, new Map<string, string>()]));
  for (const { id, entries } of users) {
    for (const [family, value] of entries) {
      const column = columns.get(family) ?? new Map<string, string>();
      columns.set(family, column);
      const others = column.get(value);
      column.set(value, others === undefined ? id : `${others},${id}`);
    }
  }
  let sizes = '';
  for (const [family, column] of columns) if (column.size > 0) sizes += `${family} ${column.size} `;
  const texts = [standing, String(users.length), sizes];
  for (const { id, record } of users) texts.push(id, record);
  for (const { request } of users) texts.push(request);
  for (const column of columns.values()) for (const [value, ids] of column) texts.push(value, ids);
  return texts;
}
