// Stores users: each change is one Lua script, which also leaves the dirty marks. New users that arrive in one turn of the event
// loop are stored by one script call, up to MAX_BATCH of them (ADR 0020, `createUserBatch`). The script stores a batch as a whole
// or not at all: if it refuses some of the users, the others are stored by a further call. Each user has a reply of their own.
import {
  entriesOfUser,
  firstRecord,
  type IndexedResource,
  type IndexEntry,
  textOf,
  USER_FAMILY,
  type UserState,
  toGroupNames,
} from '../records.ts';
import { pairsOf } from '../redis/portions.ts';
import type { Scripts, StoreDeps } from '../redis/scripts.ts';
import {
  toPutOutcome,
  type Change,
  type Creation,
  type DirectoryOptions,
  type Method,
  type PutOutcome,
  type Replacement,
  type ReplaceOutcome,
} from './changes.ts';

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
const STORED = 'stored ';

/** One reply for each user; an Error is the failure of that user alone. */
type Replies = (string | Error)[];

/** Reply of create_users.lua. `refused` means that no user of the batch was stored. */
type BatchReply = 'stored' | ['stored', ...replies: string[]] | ['refused', ...idsAndReasons: string[]];

export function createUserWrites(
  { scripts, keys }: StoreDeps,
  { targets, rulesReadGroups, events }: DirectoryOptions,
) {
  const { base } = keys;
  /** Arguments that are the same for every change of a user, serialized once. */
  const argumentsOf = (method: Method): string => {
    const emitted = events && { method, most: events.mostPending, externalIds: events.externalIds };
    return JSON.stringify({ targets, rulesReadGroups, events: emitted });
  };
  const common = { put: argumentsOf('put'), patch: argumentsOf('patch') };
  const storeNew = createUserBatch({ scripts, base }, common.put);

  /** Stores a new user. `stale`: an earlier attempt of this call, whose reply was lost, has stored the user. */
  async function createUser(creation: Creation): Promise<PutOutcome> {
    const { id, resource, text, now, request, shared } = creation;
    const entries = entriesOfUser(resource, shared);
    const record = firstRecord(now, stateOf(resource), JSON.stringify(entries), text);
    const reply = await storeNew({ id, record, entries, request });
    if (!reply.startsWith(STORED)) return toPutOutcome(reply);
    const groups = toGroupNames(reply.slice(STORED.length));
    return { kind: 'stored', version: 1, created: now, lastModified: now, groups };
  }

  /** Replaces a stored user. The script chooses the priority: a user who becomes inactive is a deactivation. */
  async function putUser(change: Change): Promise<PutOutcome> {
    const { id, expected, resource, text, now, request, method = 'put', shared } = change;
    const entries = JSON.stringify(entriesOfUser(resource, shared));
    const version = expected === undefined ? '' : String(expected);
    const texts = [id, String(now), request, version, stateOf(resource), text, entries];
    return toPutOutcome(await scripts.ask('put_user', base, common[method], ...texts));
  }

  /** Replaces the values of single attributes inside the stored text of a user. */
  async function replaceValues({ id, values, now, request }: Replacement): Promise<ReplaceOutcome> {
    const texts = [id, String(now), request];
    for (const [name, value] of values) texts.push(name, JSON.stringify(value));
    const reply = await scripts.run('replace_values', base, common.patch, ...texts);
    const [head, record = ''] = reply as [string, string?];
    if (head === 'absent') return { kind: 'absent' };
    return { ...toPutOutcome(head), text: textOf(record) };
  }

  return { createUser, putUser, replaceValues };
}

const stateOf = ({ active }: IndexedResource): UserState => (active === false ? 'inactive' : 'active');

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
