// Implements the client's interface as a platform in memory that stops before each call until the test continues.
import type { PlatformClient } from '../../../src/platform/client.ts';
import { PlatformResponse, PlatformTimeout } from '../../../src/platform/errors.ts';
import { EXTENSION } from '../../../src/sync/diff.ts';
import type {
  PlatformPatchOperation,
  UserAttribute,
  WireGroup,
  WireUser,
} from '../../../src/platform/wire.ts';

/** How a call ends: executed (`ok`), or as INTERRUPTIONS says. */
export type CallOutcome = 'ok' | 'fails' | 'lost' | 'crash' | 'crashAfter';

/** Calls that do not end as usual, with the words for names of tests: `a write <words>`. */
export const INTERRUPTIONS = [
  ['that a killed process never made', 'crash'],
  ['after which the process is killed', 'crashAfter'],
  ['that is refused', 'fails'],
  ['whose answer is lost', 'lost'],
] as const satisfies readonly (readonly [words: string, outcome: CallOutcome])[];

/** Simulates a killed process: the bridge runs nothing after this call. */
export class Crash extends Error {}

export interface FakeUser {
  id: string;
  userName: string;
  externalId: string | null;
  active: boolean;
  attributes: Map<string, unknown>;
  /** When the platform made it, ISO 8601. */
  created: string;
}

export interface FakeGroup {
  id: string;
  displayName: string;
  members: Set<string>;
  created: string;
}

/** Waits until the test lets a call continue. @returns how the call ends */
export type Gate = (call: string) => Promise<CallOutcome>;

export interface FakePlatform {
  users: Map<string, FakeUser>;
  groups: Map<string, FakeGroup>;
  /** Names of all calls that the platform carried out, such as `create user`. */
  calls: string[];
  /** Names of groups whose member changes answer 403. */
  frozen: Set<string>;
  client(gate: Gate): PlatformClient;
}

export function createFakePlatform(now: () => number): FakePlatform {
  const users = new Map<string, FakeUser>();
  const groups = new Map<string, FakeGroup>();
  const definitions: UserAttribute[] = [];
  const calls: string[] = [];
  const frozen = new Set<string>();
  let lastId = 0;
  const nextId = (): string => String(++lastId);
  const isoNow = (): string => new Date(now()).toISOString();
  /** Returns a page of a list; `startIndex` is 1-based. */
  const pageOf = <T>(
    all: Iterable<T>,
    { startIndex = 1, count = 20 }: { startIndex?: number; count?: number } = {},
  ) => {
    const listed = [...all];
    const resources = listed.slice(startIndex - 1, startIndex - 1 + count);
    return { startIndex, totalResults: listed.length, resources };
  };
  const same = (left: string, right: string): boolean => left.toLowerCase() === right.toLowerCase();

  /** @throws PlatformResponse with a status; method and route of these errors have no meaning */
  const refuse = (status: number): never => {
    throw new PlatformResponse(
      { status, platformMessage: `fake ${status}` },
      { method: 'X', route: '/fake' },
    );
  };
  const userOf = (id: string): FakeUser => users.get(id) ?? refuse(404);
  const groupOf = (id: string): FakeGroup => groups.get(id) ?? refuse(404);
  const wireUser = ({ id, userName, externalId, active, attributes, created }: FakeUser): WireUser => ({
    id,
    meta: { created },
    userName,
    active,
    ...(externalId === null ? {} : { externalId }),
    ...(attributes.size === 0
      ? {}
      : { [EXTENSION]: Object.fromEntries(attributes) as Record<string, string | number> }),
  });
  const wireGroup = ({ id, displayName, members, created }: FakeGroup): WireGroup => ({
    id,
    meta: { created },
    displayName,
    members: [...members].map((value) => ({ value })),
  });

  /** Answers 409 if another user, not `id`, has the name. */
  function checkName(name: string, id?: string): void {
    for (const user of users.values()) if (user.id !== id && same(user.userName, name)) refuse(409);
  }

  function checkGroupName(name: string, id?: string): void {
    for (const group of groups.values()) if (group.id !== id && same(group.displayName, name)) refuse(409);
  }

  function patchUser(id: string, operations: PlatformPatchOperation[]): WireUser {
    const user = userOf(id);
    for (const { path, value } of operations) {
      if (path?.startsWith(EXTENSION)) user.attributes.set(path.slice(EXTENSION.length + 1), value);
      if (path === 'active') user.active = value === true;
      if (path === 'userName') {
        checkName(String(value), id);
        user.userName = String(value);
      }
    }
    return wireUser(user);
  }

  function patchGroup(id: string, operations: PlatformPatchOperation[]): WireGroup {
    const group = groupOf(id);
    for (const { op, path = '', value } of operations) {
      const member = /^members\[value eq "(.*)"\]$/.exec(path)?.[1];
      if ((path === 'members' || member !== undefined) && frozen.has(group.displayName)) refuse(403);
      if (path === 'displayName') {
        checkGroupName(String(value), id);
        group.displayName = String(value);
      } else if (op === 'add' && path === 'members') {
        const values = (value as { value: string }[]).map((each) => each.value);
        for (const each of values) userOf(each);
        for (const each of values) group.members.add(each);
      } else if (member !== undefined) {
        group.members.delete(member);
      }
    }
    return wireGroup(group);
  }

  const client = (gate: Gate): PlatformClient => {
    async function call<T>(name: string, run: () => T): Promise<T> {
      const outcome = await gate(name);
      if (outcome === 'crash') throw new Crash(name);
      if (outcome === 'fails') refuse(500);
      calls.push(name);
      const result = run();
      if (outcome === 'crashAfter') throw new Crash(name);
      if (outcome === 'lost')
        throw new PlatformTimeout(1, { method: 'X', route: '/fake', mayHaveCommitted: true });
      return result;
    }
    const part = {
      users: {
        findBy: (attribute: 'userName' | 'externalId', value: string) =>
          call('find user', () =>
            [...users.values()]
              .filter((user) => same(user[attribute] ?? '', value))
              .slice(0, 2) // as the real client, which reads at most two candidates
              .map(wireUser),
          ),
        list: (range?: { startIndex?: number; count?: number }) =>
          call('list users', () => pageOf([...users.values()].map(wireUser), range)),
        get: (id: string) => call('get user', () => wireUser(userOf(id))),
        create: (body: { userName: string; externalId?: string; active?: boolean }) =>
          call('create user', () => {
            checkName(body.userName);
            const { userName, externalId = null, active = true } = body;
            const user: FakeUser = {
              id: nextId(),
              userName,
              externalId,
              active,
              attributes: new Map(),
              created: isoNow(),
            };
            users.set(user.id, user);
            return wireUser(user);
          }),
        patch: (id: string, operations: PlatformPatchOperation[]) =>
          call('patch user', () => patchUser(id, operations)),
        delete: (id: string) =>
          call('delete user', () => {
            userOf(id);
            users.delete(id);
            for (const group of groups.values()) group.members.delete(id);
          }),
      },
      groups: {
        findByDisplayName: (name: string) =>
          call('find group', () =>
            [...groups.values()].filter((group) => same(group.displayName, name)).map(wireGroup),
          ),
        list: (range?: { startIndex?: number; count?: number }) =>
          call('list groups', () => pageOf([...groups.values()].map(wireGroup), range)),
        get: (id: string) => call('get group', () => wireGroup(groupOf(id))),
        create: ({ displayName }: { displayName: string }) =>
          call('create group', () => {
            checkGroupName(displayName);
            const group: FakeGroup = { id: nextId(), displayName, members: new Set(), created: isoNow() };
            groups.set(group.id, group);
            return wireGroup(group);
          }),
        patch: (id: string, operations: PlatformPatchOperation[]) =>
          call('patch group', () => patchGroup(id, operations)),
        delete: (id: string) => call('delete group', () => void groups.delete(groupOf(id).id)),
      },
      accounts: {
        search: (text: string) =>
          call('search account', () =>
            [...users.values()]
              .filter((user) => same(user.userName, text))
              .map(({ id, userName }) => ({ id, username: userName, email: userName })),
          ),
        me: () => Promise.resolve({ id: '0', username: 'key-owner', email: 'key-owner' }),
      },
      attributes: {
        list: () => Promise.resolve([...definitions]),
        create: ({ name, type }: Pick<UserAttribute, 'name' | 'type'>) => {
          const definition = { id: nextId(), name, type } as UserAttribute;
          definitions.push(definition);
          return Promise.resolve(definition);
        },
      },
      values: {
        set: (account: string, attributeId: string, value: unknown) =>
          call('set value', () => {
            const { name } = definitions.find(({ id }) => id === attributeId) ?? refuse(404);
            userOf(account).attributes.set(name, value);
          }),
        list: (account: string) =>
          call('list values', () =>
            [...userOf(account).attributes].map(([name, value]) => ({ name, value })),
          ),
      },
      close: () => Promise.resolve(),
    };
    return part as unknown as PlatformClient;
  };
  return { users, groups, calls, frozen, client };
}
