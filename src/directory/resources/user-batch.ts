// Stores new users. All that arrive in one turn of the event loop are stored by one script call (ADR 0020). The script stores a
// batch as a whole or not at all: if it refuses some of the users, the others are stored by a further call. Each user has an own
// reply.
import { USER_FAMILY, type IndexEntry } from '../records.ts';
import { pairsOf } from '../redis/portions.ts';
import type { Scripts } from '../redis/scripts.ts';

interface NewUser {
  /** Generated for this user, so no other record has it. */
  id: string;
  /** In its stored form (records.ts). */
  record: string;
  entries: IndexEntry[];
  /** Correlation id of the push. */
  request: string;
}

/** Largest batch: Redis stores one batch while this process prepares the next (ADR 0016). */
const MAX_BATCH = 8;
/** Index families in which several users may have one value. */
const SHARED = new Set<string>([USER_FAMILY.email, USER_FAMILY.sharedExternalId]);
/** Index families of userNames: a value has at most one holder in both together. */
const NAMES: string[] = [USER_FAMILY.nameAndEmail, USER_FAMILY.name];
/** Prefix of the reply for a stored user; the user's groups follow as JSON. */
export const STORED = 'stored ';

/** One reply for each user; an Error is the failure of that user alone. */
type Replies = (string | Error)[];

/** Reply of create_users.lua. `refused` means that no user of the batch was stored. */
type BatchReply = 'stored' | ['stored', ...replies: string[]] | ['refused', ...idsAndReasons: string[]];

/**
 * @param common arguments that are the same for all users, as JSON
 * @returns a function that stores one user with others of the same turn; it resolves to `stored <groups>`,
 * `taken <family> <id>` or `stale`
 */
export function createUserBatch(
  { scripts, base }: { scripts: Scripts; base: string },
  common: string,
): (user: NewUser) => Promise<string> {
  /** Stores a batch. Of two users with one name, the second is stored by a later script, which finds the first. */
  async function storeAll(users: NewUser[]): Promise<Replies> {
    const rival = firstRival(users);
    if (rival > 0) {
      const before = await storeAll(users.slice(0, rival));
      return [...before, ...(await storeRest(users.slice(rival)))];
    }
    const reply = (await scripts.send('create_users', base, toTexts(users, common))) as BatchReply;
    if (reply === 'stored') return users.map(() => STORED);
    const [tag, ...rest] = reply;
    return tag === 'stored' ? rest : storeOthers(users, rest);
  }

  /** Stores the batch without the refused users. */
  async function storeOthers(users: NewUser[], idsAndReasons: string[]): Promise<Replies> {
    const reasons = new Map(pairsOf(idsAndReasons));
    const others = users.filter(({ id }) => !reasons.has(id));
    const stored = others.length > 0 ? await storeRest(others) : [];
    return users.map(({ id }) => reasons.get(id) ?? stored.shift() ?? '');
  }

  /** Stores further users of a batch. If this fails, only they fail: the users before have their replies. */
  const storeRest = (users: NewUser[]): Promise<Replies> =>
    storeAll(users).catch((error: unknown) => users.map(() => error as Error));

  return scripts.batch(storeAll, MAX_BATCH);
}

/** Returns the index of the first user whose userName or externalId an earlier user of the batch has; -1 if there is none. */
function firstRival(users: NewUser[]): number {
  if (users.length === 1) return -1;
  const claimed = new Set<string>();
  return users.findIndex(({ entries }) =>
    entries.some(([family, value]) => {
      if (SHARED.has(family)) return false;
      const name = `${NAMES.includes(family) ? 'name' : family} ${value}`;
      if (claimed.has(name)) return true;
      claimed.add(name);
      return false;
    }),
  );
}

/**
 * Returns the arguments of create_users.lua: the common ones, the number of users, the size of each index family, ids and
 * records, correlation ids, then the values and ids of each index family.
 */
function toTexts(users: NewUser[], common: string): string[] {
  // The userNames come first, because the script reports the first conflict that it finds.
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
  const texts = [common, String(users.length), sizes];
  for (const { id, record } of users) texts.push(id, record);
  for (const { request } of users) texts.push(request);
  for (const column of columns.values()) for (const [value, ids] of column) texts.push(value, ids);
  return texts;
}
