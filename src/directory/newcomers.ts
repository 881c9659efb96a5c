// Users who are new. Those who come in one turn of the event loop are stored together by one script (ADR 0020).
import type { IndexEntry } from './indexes.ts';
import type { Scripts } from './scripts.ts';

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
/** The families of one index; a value has one holder in both of them. */
const OTHER_FAMILY: Partial<Record<string, string>> = { m: 'u', u: 'm' };
/** Tag of the answer for a user who is stored; the groups follow. */
export const STORED = 'stored ';

type Answer = string | Error;

/**
 * @param standing arguments that are the same for all, as JSON
 * @returns stores one of them; answers as create_users.lua does for each, or for a single one
 */
export function createNewcomers(
  { scripts, base }: { scripts: Scripts; base: string },
  standing: string,
): (newcomer: Newcomer) => Promise<string> {
  async function storeAll(users: Newcomer[]): Promise<Answer[]> {
    const texts = arrange(users, standing);
    const reply = texts ? await scripts.send('create_users', base, texts) : 'refused';
    if (reply === 'stored') return users.map(() => STORED);
    if (reply === 'refused') return Promise.all(users.map(storeAlone));
    return typeof reply === 'string' ? [reply] : (reply as string[]);
  }

  /** Who can not be stored keeps nobody else from it. */
  async function storeAlone(user: Newcomer): Promise<Answer> {
    const [answer] = await storeAll([user]).catch((error: unknown) => [error as Error]);
    return answer ?? new Error('A user was stored without an answer');
  }

  return scripts.gather(storeAll, MOST);
}

/** The texts that create_users.lua reads; undefined when two of them want one value that only one user may have. */
function arrange(users: Newcomer[], standing: string): string[] | undefined {
  const columns = new Map<string, Map<string, string>>();
  for (const { id, entries } of users) {
    for (const [family, value] of entries) {
      const column = columns.get(family) ?? new Map<string, string>();
      columns.set(family, column);
      const holder = column.get(value);
      const isTaken = holder !== undefined || columns.get(OTHER_FAMILY[family] ?? '')?.has(value);
      if (isTaken && !SHARED.has(family)) return undefined;
      column.set(value, holder === undefined ? id : `${holder},${id}`);
    }
  }
  let sizes = '';
  for (const [family, column] of columns) sizes += `${family} ${column.size} `;
  const texts = [standing, String(users.length), sizes];
  for (const { id, record } of users) texts.push(id, record);
  for (const { request } of users) texts.push(request);
  for (const column of columns.values()) for (const [value, ids] of column) texts.push(value, ids);
  return texts;
}
