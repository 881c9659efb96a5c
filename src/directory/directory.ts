// Desired state of one connection: what its identity provider wants, kept in Redis. Every change is one script
// that also leaves the dirty marks, so nothing can be stored and forgotten.
import type { Redis } from 'ioredis';
import { attributeOf, indexEntries, type IndexedResource } from './indexes.ts';
import type { Keyspace } from './keys.ts';
import {
  fold,
  LANES,
  parseStored,
  type Kind,
  type Lane,
  type PlacedRecord,
  type StoredRecord,
} from './records.ts';
import type { Reply, Scripts } from './scripts.ts';

export interface DirectoryOptions {
  /** Names of the targets that must become equal to this connection. */
  targets: string[];
  /** Whether a mapped attribute or a scope depends on memberships, so that users change with their groups. */
  groupsMatter: boolean;
}

/** What happened to a write. `taken` names the SCIM attribute whose value another resource holds. */
export type PutOutcome =
  | {
      kind: 'stored' | 'unchanged';
      version: number;
      created: number;
      lastModified: number;
      groups: GroupName[];
    }
  | { kind: 'taken'; attribute: string; holder: string }
  | { kind: 'stale' }
  | { kind: 'missing' };

export type RemoveOutcome = { kind: 'removed' } | { kind: 'stale' } | { kind: 'missing' };

/** A resource as it shall be; `expected` 0 means that it must not exist yet, undefined whatever is there. */
export interface Change {
  id: string;
  expected: number | undefined;
  resource: IndexedResource;
  /** Canonical JSON of `resource`. */
  text: string;
  /** Unix milliseconds for meta.created and meta.lastModified. */
  now: number;
  /** Correlation id of the push. */
  request: string;
  /** Only to overrule the lane that follows from what happens, as an import does. */
  lane?: Lane;
}

export interface Removal {
  id: string;
  /** The version that must be there; undefined: whatever is there. */
  expected: number | undefined;
  now: number;
  request: string;
}

/** One change of a member set; `values` are what the provider sent: user ids, or externalIds or userNames. */
export interface MemberStep {
  kind: 'add' | 'remove' | 'replace';
  values: string[];
}

export interface MemberChange {
  id: string;
  now: number;
  request: string;
  steps: MemberStep[];
}

export interface GroupName {
  id: string;
  displayName: string;
}

export interface UserWithGroups {
  record: StoredRecord;
  groups: GroupName[];
}

export interface Page {
  total: number;
  records: StoredRecord[];
}

const RESOURCE_ID = /^[0-9a-z]{20}$/;
const SCAN_CHUNK = 200;

export type Directory = ReturnType<typeof createDirectory>;

export function createDirectory(
  deps: { redis: Redis; scripts: Scripts; keys: Keyspace },
  options: DirectoryOptions,
) {
  const { redis, scripts, keys } = deps;
  const records = (kind: Kind): string => keys.key(kind === 'User' ? 'users' : 'groups');

  const common = { targets: options.targets, groupsMatter: options.groupsMatter };

  /** Stores a user. The lane follows from what happens: leaving is a deactivation, coming is new. */
  async function putUser({ resource, text, lane, ...change }: Change): Promise<PutOutcome> {
    const entries = indexEntries('User', resource);
    const waitedFor = [change.id, ...entries.map(([, value]) => value)];
    const active = resource.active !== false;
    return toPutOutcome(
      await scripts.run(
        'put_user',
        keys.base,
        { ...common, ...change, ...laneOf(lane), entries, waitedFor, active },
        text,
      ),
    );
  }

  /** Stores a group and changes its members, in one step. */
  async function putGroup(
    { resource, text, lane, ...change }: Change,
    steps: MemberStep[],
  ): Promise<PutOutcome> {
    const args = {
      ...common,
      ...change,
      lane: LANES.indexOf(lane ?? (change.expected === 0 ? 'new' : 'edit')),
      displayName: resource.displayName,
      entries: indexEntries('Group', resource),
      steps,
      folded: foldedNames(steps),
    };
    return toPutOutcome(await scripts.run('put_group', keys.base, args, text));
  }

  /** Changes members only: no read, no compare, so parallel pushes to one group lose nothing. */
  async function changeMembers(change: MemberChange): Promise<PutOutcome> {
    const args = { ...common, ...change, lane: LANES.indexOf('edit'), folded: foldedNames(change.steps) };
    return toPutOutcome(await scripts.run('put_group', keys.base, args));
  }

  async function remove(kind: Kind, removal: Removal): Promise<RemoveOutcome> {
    const script = kind === 'User' ? 'delete_user' : 'delete_group';
    const [tag] = await scripts.run(script, keys.base, { ...common, ...removal });
    return { kind: tag as RemoveOutcome['kind'] };
  }

  async function get(kind: Kind, id: string): Promise<StoredRecord | undefined> {
    const stored = await redis.hget(records(kind), id);
    return stored === null ? undefined : parseStored(id, stored);
  }

  /** Records in the given order; ids that are gone are left out. */
  async function getMany(kind: Kind, ids: string[]): Promise<StoredRecord[]> {
    if (ids.length === 0) return [];
    const stored = await redis.hmget(records(kind), ...ids);
    return stored.flatMap((text, index) => (text === null ? [] : [parseStored(ids[index] ?? '', text)]));
  }

  /** `count` resources from the 1-based `startIndex`, in order of creation (RFC 7644 §3.4.2.4). */
  async function page(kind: Kind, startIndex: number, count: number): Promise<Page> {
    const order = keys.key('order', kind);
    const [total, ids] = await Promise.all([
      redis.zcard(order),
      count === 0 ? [] : redis.zrange(order, String(startIndex - 1), String(startIndex + count - 2)),
    ]);
    return { total, records: await getMany(kind, ids) };
  }

  /** All resources placed behind `after`, in order of creation, in chunks, with bounded memory. */
  async function* scan(kind: Kind, after = 0): AsyncGenerator<PlacedRecord[]> {
    const order = keys.key('order', kind);
    let last = after;
    for (;;) {
      const found = await redis.zrange(
        order,
        `(${last}`,
        '+inf',
        'BYSCORE',
        'LIMIT',
        0,
        SCAN_CHUNK,
        'WITHSCORES',
      );
      if (found.length === 0) return;
      last = Number(found.at(-1));
      const places = new Map<string, number>();
      for (let index = 0; index < found.length; index += 2) {
        places.set(found[index] ?? '', Number(found[index + 1]));
      }
      const stored = await getMany(kind, [...places.keys()]);
      yield stored.map((record) => ({ ...record, place: places.get(record.id) ?? last }));
    }
  }

  /** Those of `ids` that are placed behind `after`, in order of creation. */
  async function inOrder(kind: Kind, ids: string[], after = 0): Promise<PlacedRecord[]> {
    if (ids.length === 0) return [];
    const [places, stored] = await Promise.all([
      redis.zmscore(keys.key('order', kind), ...ids),
      getMany(kind, ids),
    ]);
    const placeOf = new Map(ids.map((id, index) => [id, Number(places[index] ?? 0)]));
    return stored
      .map((record) => ({ ...record, place: placeOf.get(record.id) ?? 0 }))
      .filter(({ place }) => place > after)
      .sort((a, b) => a.place - b.place);
  }

  /**
   * Ids of resources that may have the value, from an index; undefined where no index exists for the attribute.
   * `attribute` is a lower-case SCIM path such as `username`, `externalid`, `emails.value`, `displayname`.
   */
  async function lookup(kind: Kind, attribute: string, value: string): Promise<string[] | undefined> {
    const ids = async (family: string, field: string): Promise<string[]> =>
      (await redis.hget(keys.key(family), field))?.split(',') ?? [];
    switch (`${kind}.${attribute}`) {
      case 'User.id':
      case 'Group.id':
        return [value];
      case 'User.username':
        return ids('userNames', fold(value));
      case 'User.emails.value':
        return ids('emails', fold(value));
      case 'Group.displayname':
        return ids('displayNames', fold(value));
      case 'User.externalid':
      case 'Group.externalid':
        return ids(`externalIds:${kind}`, value);
      case 'User.groups.value':
        return redis.smembers(keys.key('members', value));
      case 'Group.members.value': {
        const [joined, waiting] = await Promise.all([
          redis.smembers(keys.key('memberships', value)),
          redis.smembers(keys.key('references', value)),
        ]);
        return [...new Set([...joined, ...waiting.map((each) => each.slice(0, each.indexOf(' ')))])];
      }
      default:
        return undefined;
    }
  }

  const readUsers = async (by: { ids: string[]; groupsOnly?: boolean } | UniqueIndex): Promise<string[][]> =>
    (await scripts.run('read_users', keys.base, by)).slice(1) as string[][];

  async function withGroups(by: { ids: string[] } | UniqueIndex): Promise<UserWithGroups[]> {
    const users = await readUsers(by);
    return users.flatMap(([id = '', stored, ...groups]) =>
      stored ? [{ record: parseStored(id, stored), groups: toGroupNames(groups) }] : [],
    );
  }

  /** Users with the groups they are in, in one round trip; ids that are gone are left out. */
  const usersOf = (ids: string[]): Promise<UserWithGroups[]> => withGroups({ ids });

  /** Nobody or the one user who holds a unique value; undefined where `attribute` is not unique. */
  async function holderOf(attribute: string, value: string): Promise<UserWithGroups[] | undefined> {
    const index = uniqueIndex(attribute, value);
    // A lone surrogate is in nobody's name, and JSON can not carry it to the script.
    return index && (/\p{Surrogate}/u.test(value) ? [] : withGroups(index));
  }

  /** The groups of each user, in the order of `ids`. */
  async function groupsOf(ids: string[]): Promise<GroupName[][]> {
    if (ids.length === 0) return [];
    return (await readUsers({ ids, groupsOnly: true })).map(([, , ...groups]) => toGroupNames(groups));
  }

  /** Member values of a group: ids of users, then values whose user is not there yet. */
  async function membersOf(group: string): Promise<{ users: string[]; unresolved: string[] }> {
    const [users, unresolved] = await Promise.all([
      redis.smembers(keys.key('members', group)),
      redis.hkeys(keys.key('unresolved', group)),
    ]);
    return { users, unresolved };
  }

  const count = (kind: Kind): Promise<number> => redis.hlen(records(kind));

  return {
    putUser,
    putGroup,
    changeMembers,
    remove,
    get,
    getMany,
    page,
    scan,
    inOrder,
    lookup,
    usersOf,
    holderOf,
    groupsOf,
    membersOf,
    count,
  };
}

const laneOf = (lane: Lane | undefined): { lane?: number } => (lane ? { lane: LANES.indexOf(lane) } : {});

interface UniqueIndex {
  family: string;
  value: string;
}

/** Attributes of users whose index holds one id per value, so that it alone decides an equality. */
function uniqueIndex(attribute: string, value: string): UniqueIndex | undefined {
  if (attribute === 'username') return { family: 'userNames', value: fold(value) };
  if (attribute === 'externalid') return { family: 'externalIds:User', value };
  return undefined;
}

/** `[id, displayName, id, displayName, ...]` in order of ids. */
function toGroupNames(pairs: string[]): GroupName[] {
  const groups: GroupName[] = [];
  for (let index = 0; index < pairs.length; index += 2) {
    groups.push({ id: pairs[index] ?? '', displayName: pairs[index + 1] ?? '' });
  }
  return groups.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Values that are no id of ours may be names: the script finds their user by the folded form. */
function foldedNames(steps: MemberStep[]): Record<string, string> {
  const folded: [string, string][] = [];
  for (const { values } of steps) {
    for (const value of values) if (!RESOURCE_ID.test(value)) folded.push([value, fold(value)]);
  }
  return Object.fromEntries(folded);
}

function toPutOutcome([tag, ...values]: Reply): PutOutcome {
  switch (tag) {
    case 'stored':
    case 'unchanged': {
      const [version, created, lastModified, groups = []] = values as [number, string, string, string[]?];
      return {
        kind: tag,
        version: Number(version),
        created: Number(created),
        lastModified: Number(lastModified),
        groups: toGroupNames(groups),
      };
    }
    case 'taken':
      return { kind: 'taken', attribute: attributeOf(String(values[0])), holder: String(values[1]) };
    case 'stale':
    case 'missing':
      return { kind: tag };
    default:
      throw new Error(`Unknown reply of a put script: ${tag}`);
  }
}
