// Reads users together with their groups. One script reads several users at once: those with given ids, or those that have a given
// value in the index of a unique attribute.
import { fold, isSound, parseStored, type StoredRecord, toGroupNames, type GroupName } from '../records.ts';
import type { StoreDeps } from '../redis/scripts.ts';

export interface UserWithGroups {
  record: StoredRecord;
  groups: GroupName[];
}

/** Largest size of one portion of users with their groups, in bytes. */
const USERS_BYTES = 4 * 1024 * 1024;
/** Most ids in one call. Redis decodes all of them, also those that USERS_BYTES leaves to the next call. */
const MOST_IDS = 1000;
/** Users that share a value, and their bytes with their groups, are read at once up to these limits. */
const SHARERS = { most: 100, bytes: 524_288 };

export function createUserReads({ scripts, keys }: StoreDeps) {
  /** Returns users with their groups in one round trip, including damaged records; unknown ids are left out. */
  const usersOf = async (ids: string[]): Promise<UserWithGroups[]> => onlyStored(await readUsers({ ids }));

  /** Yields users with their groups in portions of at most MOST_IDS and USERS_BYTES, or of one larger user; unknown ids are left out. */
  async function* usersIn(ids: string[]): AsyncGenerator<UserWithGroups[]> {
    for (let at = 0; at < ids.length;) {
      const users = await readUsers({ ids: ids.slice(at, at + MOST_IDS), bytes: USERS_BYTES });
      at += users.length;
      yield onlyStored(users);
    }
  }

  /**
   * Returns the users with a value of a unique attribute: at most one, except for shared externalIds. `many`: more than SHARERS
   * share it. Undefined: the attribute has no unique index.
   */
  async function holderOf(attribute: string, value: string): Promise<UserWithGroups[] | 'many' | undefined> {
    const index = uniqueIndex(attribute, value);
    if (!index) return undefined;
    // Stored names have no lone surrogates, so such a value matches no user.
    if (/\p{Surrogate}/u.test(value)) return [];
    const lines = await scripts.ask('read_users', keys.base, { ...index, ...SHARERS });
    return lines === 'many' ? 'many' : onlyStored(toUsers(lines)).filter(({ record }) => isSound(record));
  }

  /** Returns the groups of each user, in the order of `ids`. */
  async function groupsOf(ids: string[]): Promise<GroupName[][]> {
    if (ids.length === 0) return [];
    return (await readUsers({ ids, groupsOnly: true })).map(({ groups }) => groups);
  }

  /** Reads users with their groups, of `ids` at most `bytes`; `record` is undefined for an unknown id, and with `groupsOnly`. */
  const readUsers = async (by: {
    ids: string[];
    groupsOnly?: boolean;
    bytes?: number;
  }): Promise<ReadUser[]> => toUsers(await scripts.ask('read_users', keys.base, by), by.ids);

  return { usersOf, usersIn, holderOf, groupsOf };
}

interface ReadUser {
  record: StoredRecord | undefined;
  groups: GroupName[];
}

/** Returns the users whose record was found. */
const onlyStored = (users: ReadUser[]): UserWithGroups[] =>
  users.filter((user): user is UserWithGroups => user.record !== undefined);

/**
 * Parses the reply of read_users.lua. Three lines for each user: `<id> <groups>`, the head of the record, the text of the record.
 * @param ids the requested ids, which the reply then leaves out and has in this order; undefined for a lookup by index
 */
function toUsers(lines: string, ids?: string[]): ReadUser[] {
  const users: ReadUser[] = [];
  for (let at = 0; at < lines.length;) {
    const space = lines.indexOf(' ', at);
    const head = lines.indexOf('\n', space) + 1;
    const text = lines.indexOf('\n', head) + 1;
    // The last line has no line break; the end counts as one.
    const next = lines.indexOf('\n', text) + 1 || lines.length + 1;
    const id = ids?.[users.length] ?? lines.slice(at, space);
    users.push({
      // The head is empty for an unknown id, and if only the groups were read.
      record: text === head + 1 ? undefined : parseStored(id, lines.slice(head, next - 1)),
      groups: toGroupNames(lines.slice(space + 1, head - 1)),
    });
    at = next;
  }
  return users;
}

/** An index of a unique user attribute, and the value to look up. */
interface UniqueIndex {
  family: string;
  /** In the form of the index: folded for userNames. */
  value: string;
  /** Index of users that share the value. */
  lookup?: string;
}

/** Returns the index for an `eq` filter on a unique user attribute; undefined for other attributes. */
function uniqueIndex(attribute: string, value: string): UniqueIndex | undefined {
  if (attribute === 'username') return { family: 'userNames', value: fold(value) };
  if (attribute === 'externalid')
    return { family: 'externalIds:User', value, lookup: 'sharedExternalIds:User' };
  return undefined;
}
