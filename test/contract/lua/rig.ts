// Provides a directory with outboxes on real Redis, and a second client for races.
import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { connectRedis } from '../../../src/directory/redis/connection.ts';
import { createDesiredState, type DesiredState } from '../../../src/directory/desired-state.ts';
import type {
  DirectoryOptions,
  MemberStep,
  PutOutcome,
  RemoveOutcome,
} from '../../../src/directory/resources/changes.ts';
import type { IndexedResource, Kind, Priority, Ref } from '../../../src/directory/records.ts';
import { createKeyspace, type Keyspace } from '../../../src/directory/keys.ts';
import type { Link } from '../../../src/directory/outbox/link.ts';
import type { Outbox } from '../../../src/directory/outbox/outbox.ts';
import type { Begin } from '../../../src/directory/outbox/work.ts';
import type { DueWork } from '../../../src/directory/outbox/due-work.ts';
import { loadScripts, type Scripts } from '../../../src/directory/redis/scripts.ts';
import { silentLogger } from '../../../src/support/logger.ts';

export interface Store {
  redis: Redis;
  scripts: Scripts;
  prefix: string;
  keys: Keyspace;
  state: DesiredState;
  /** The same directory on a separate Redis connection. */
  rival: DesiredState;
  outbox: Outbox;
  /** @param priority priority of the mark of a new user */
  putUser(id: string, resource: IndexedResource, priority?: Priority): Promise<PutOutcome>;
  putGroup(id: string, displayName: string, steps?: MemberStep[]): Promise<PutOutcome>;
  members(group: string, ...steps: MemberStep[]): Promise<PutOutcome>;
  remove(kind: Kind, id: string): Promise<RemoveOutcome>;
  membersOf(group: string): Promise<string[]>;
  /** Returns the generation of every mark at the first target, by ref. */
  marks(): Promise<Map<string, string>>;
  /** Returns the keys of this store without their common start, such as `users` and `links:main`, sorted. */
  families(): Promise<string[]>;
  /** Claims the due marks, at most 500. */
  claimRefs(): Promise<Ref[]>;
  /** Begins the sync of a marked resource. @throws Error when it cannot begin */
  begun(ref: Ref, priority?: Priority): Promise<DueWork>;
  /** Ends every due sync as if all users were linked and all writes succeeded. */
  settleAll(): Promise<void>;
  close(): Promise<void>;
}

/** Returns a resource id that starts with a readable name. */
export const idOf = (name: string): string => name.padEnd(20, '0');

export const add = (...values: string[]): MemberStep => ({ kind: 'add', values });
export const drop = (...values: string[]): MemberStep => ({ kind: 'remove', values });
export const replace = (...values: string[]): MemberStep => ({ kind: 'replace', values });

/** Returns the work of a sync that has begun. @throws Error when it has not */
export const workOf = (begin: Begin): DueWork => {
  if (begin.kind !== 'begun') throw new Error(`expected begun, got ${begin.kind}`);
  return begin.work;
};

export interface StoreOptions {
  targets?: string[];
  rulesReadGroups?: boolean;
  leaseMs?: number;
  events?: DirectoryOptions['events'];
  uniqueExternalIds?: boolean;
  /** Names of other connections of the targets. */
  others?: string[];
  /** A separate Redis; by default all tests share one. */
  url?: string;
}

export function openStore({
  targets = ['main'],
  rulesReadGroups = false,
  leaseMs = 5000,
  events,
  uniqueExternalIds = false,
  others = [],
  url = process.env.TEST_REDIS_URL ?? '',
}: StoreOptions = {}): Promise<Store> {
  const prefix = `test-${randomUUID()}`;
  const connections: Redis[] = [];
  const open = async (): Promise<{ redis: Redis; scripts: Scripts; state: DesiredState }> => {
    const redis = connectRedis({ url }, 'queue', silentLogger);
    connections.push(redis);
    await redis.ping();
    const scripts = loadScripts(redis);
    const addressOf = () => 'https://platform.example.com';
    const options = {
      prefix,
      connection: 'idp',
      targets,
      addressOf,
      rulesReadGroups,
      leaseMs,
      events,
      uniqueExternalIds,
      othersOf: () => others,
    };
    return { redis, scripts, state: createDesiredState({ redis, scripts }, options) };
  };
  return build(open, prefix, targets[0] ?? 'main', async () => {
    const [redis] = connections;
    const left = redis ? await scanAll(redis, `${prefix}:*`) : [];
    if (redis && left.length > 0) await redis.del(...left);
    for (const each of connections) each.disconnect();
  });
}

async function build(
  open: () => Promise<{ redis: Redis; scripts: Scripts; state: DesiredState }>,
  prefix: string,
  target: string,
  close: () => Promise<void>,
): Promise<Store> {
  const { redis, scripts, state } = await open();
  const rival = (await open()).state;
  const keys = createKeyspace(prefix, 'idp');
  const outbox = state.outboxes.get(target);
  if (!outbox) throw new Error('the first target has no outbox');
  const { directory } = state;
  const stored = async (kind: Kind, id: string): Promise<{ expected: number }> => ({
    expected: (await directory.get(kind, id))?.version ?? 0,
  });
  const common = () => ({ now: Date.now(), request: 'req' });
  const begun = async (ref: Ref, priority: Priority = 'edit'): Promise<DueWork> =>
    workOf(await outbox.begin(ref, priority));
  const claimRefs = async (): Promise<Ref[]> => (await outbox.claim(500, 10_000)).map(({ ref }) => ref);
  return {
    redis,
    scripts,
    prefix,
    keys,
    state,
    rival,
    outbox,
    putUser: async (id, resource, priority) => {
      const change = { id, resource, text: JSON.stringify(resource), ...common() };
      const { expected } = await stored('User', id);
      if (expected !== 0) return directory.putUser({ ...change, expected });
      const outcome = await directory.createUser(change);
      if (priority) for (const each of state.outboxes.values()) await each.mark([`User:${id}`], priority);
      return outcome;
    },
    putGroup: async (id, displayName, steps = []) => {
      const resource = { displayName };
      const text = JSON.stringify(resource);
      const change = {
        id,
        resource,
        text,
        priority: 'edit' as const,
        ...(await stored('Group', id)),
        ...common(),
      };
      return directory.putGroup(change, steps);
    },
    members: (id, ...steps) => directory.changeMembers({ id, steps, ...common() }),
    remove: async (kind, id) => {
      const { expected } = await stored(kind, id);
      return directory.remove(kind, { id, expected, ...common() });
    },
    membersOf: async (group) => (await directory.membersOf(group)).users.sort(),
    marks: async () => {
      const texts = await redis.hgetall(keys.key('marks', target));
      return new Map(Object.entries(texts).map(([ref, mark]) => [ref, mark.slice(0, mark.indexOf(' '))]));
    },
    families: async () =>
      (await scanAll(redis, `${prefix}:*`)).map((key) => key.replace(keys.base, '')).sort(),
    claimRefs,
    begun,
    settleAll: async () => {
      for (let refs = await claimRefs(); refs.length > 0; refs = await claimRefs()) {
        for (const ref of refs) await settle(outbox, directory.get, await outbox.begin(ref, 'edit'));
      }
    },
    close,
  };
}

/** For tests with several stores: opens one and closes it after the test. */
export function openStores(): typeof openStore {
  let stores: Store[] = [];
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    stores = [];
  });
  return async (options) => {
    const store = await openStore(options);
    stores.push(store);
    return store;
  };
}

/** Runs the steps of a worker whose writes all succeed. */
async function settle(outbox: Outbox, get: DesiredState['directory']['get'], begin: Begin): Promise<void> {
  if (begin.kind !== 'begun') return;
  const { work } = begin;
  const record = await get(work.kind, work.id);
  if (work.kind === 'Group') {
    for (const [user, sign] of await outbox.pendingMembers(work.id)) {
      if (sign === '+' || sign === '-') await outbox.ackMembers(work, sign, [user]);
    }
  }
  const link: Link = { id: `p-${work.id}`, observedGeneration: work.generation };
  if (record) await outbox.save(work, link, { linked: true });
  const gone = record ? {} : { forget: true, dropGrants: true };
  await outbox.ack(work, link, { kind: 'synced', ...gone });
}

export async function scanAll(redis: Redis, match: string): Promise<string[]> {
  const found: string[] = [];
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', match, 'COUNT', 1000);
    cursor = next;
    found.push(...keys);
  } while (cursor !== '0');
  return [...new Set(found)];
}
