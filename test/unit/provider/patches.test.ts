// Tests what happens between the parts of a PATCH: its waits for Redis, its pauses, and its repeated attempts.
import type { Directory } from '../../../src/directory/resources/directory.ts';
import type { ProviderDeps } from '../../../src/provider/context.ts';
import { createGroups } from '../../../src/provider/groups.ts';
import { createUsers } from '../../../src/provider/users.ts';
import type { Slice } from '../../../src/support/pace.ts';
import { createSerially } from '../../../src/support/serially.ts';
import { auto, groupType, patchOp, user, userType } from '../scim/sample.ts';

const context = { request: 'r', baseUrl: 'https://bridge.example/scim' };
const limits = {
  valueBytes: 10_000,
  nameCharacters: 1000,
  resourceBytes: 1_000_000,
  pageBytes: 1_000_000,
  inFlightBytes: 10_000_000,
};
const state = { version: 2, created: 1, lastModified: 1, groups: [] };
const stored = { kind: 'stored', ...state };
const recordOf = (resource: object) => ({ id: '1', version: 1, text: JSON.stringify(resource) });

/** Returns the dependencies of a provider whose directory has these functions only. */
const depsOf = (directory: object, pace: () => Slice): ProviderDeps => ({
  directory: directory as Directory,
  userType,
  groupType,
  profile: auto,
  reviveInactive: false,
  limits,
  pace,
  clock: { now: () => 1 } as ProviderDeps['clock'],
  ids: {} as ProviderDeps['ids'],
  singles: {} as ProviderDeps['singles'],
  lists: {} as ProviderDeps['lists'],
  largeAnswers: {} as ProviderDeps['largeAnswers'],
  serially: createSerially(),
});

/** A slice that never ends. */
const endless = (): Slice => ({ isOver: () => false, rest: () => Promise.resolve() });

describe('a read of 20 ms before a short PATCH', () => {
  let now = 0;
  let rests = 0;
  const pace = (): Slice => {
    const startedAt = now;
    return { isOver: () => now - startedAt >= 5, rest: () => Promise.resolve(void rests++) };
  };
  const slowly =
    <T>(result: T) =>
    (): Promise<T> => {
      now += 20;
      return Promise.resolve(result);
    };
  beforeEach(() => {
    rests = 0;
  });

  test('a PATCH of a user does not rest, because the wait for Redis is no calculation', async () => {
    const directory = { get: slowly(recordOf(user({}))), putUser: slowly(stored) };
    const body = patchOp({ op: 'add', path: 'emails', value: [{ value: 'a@x.example' }] });
    const { status } = await createUsers(depsOf(directory, pace)).patch('1', body, context);
    expect([status, rests]).toEqual([200, 0]);
  });

  test('a PATCH of a group does not rest, because the wait for Redis is no calculation', async () => {
    const directory = { get: slowly(recordOf({ displayName: 'a' })), putGroup: slowly(stored) };
    const body = patchOp({ op: 'replace', path: 'displayName', value: 'b' });
    const { status } = await createGroups(depsOf(directory, pace)).patch('1', body, context);
    expect([status, rests]).toEqual([204, 0]);
  });
});

test('a PATCH of a user that rests while it is parsed is stored before the PATCH that came after it', async () => {
  const titles: unknown[] = [];
  const directory = {
    get: () => Promise.resolve(recordOf(user({}))),
    putUser: ({ resource }: { resource: { title: string } }) => {
      titles.push(resource.title);
      return Promise.resolve(stored);
    },
    replaceValues: () => Promise.resolve({ kind: 'absent' }),
  };
  const laterTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
  const slices: Slice[] = [{ isOver: () => true, rest: laterTurn }];
  const users = createUsers(depsOf(directory, () => slices.shift() ?? endless()));
  const patch = (title: string) =>
    users.patch('1', patchOp({ op: 'replace', path: 'title', value: title }), context);
  await Promise.all([patch('first'), patch('second')]);
  expect(titles).toEqual(['first', 'second']);
});

/** Returns a write that succeeds after ten other writes came first. */
function contendedWrite() {
  let attempts = 0;
  return () => Promise.resolve(++attempts > 10 ? stored : { kind: 'stale' });
}
const longFilter = Array.from({ length: 100 }, (_, n) => `value sw "z${n}"`).join(' or ');

test('a PATCH of a user whose attempts compare 100,000 values each is stored at the eleventh', async () => {
  const emails = Array.from({ length: 1000 }, (_, n) => ({ value: `a${n}` }));
  const directory = { get: () => Promise.resolve(recordOf(user({ emails }))), putUser: contendedWrite() };
  const body = patchOp({ op: 'remove', path: `emails[${longFilter}]` });
  const { status } = await createUsers(depsOf(directory, endless)).patch('1', body, context);
  expect(status).toBe(200);
});

test('a PATCH of a group whose attempts compare 100,000 members each is stored at the eleventh', async () => {
  const directory = {
    get: () => Promise.resolve(recordOf({ displayName: 'a' })),
    membersOf: () =>
      Promise.resolve({ users: [], unresolved: Array.from({ length: 1000 }, (_, n) => `a${n}`) }),
    existing: () => Promise.resolve([]),
    putGroup: contendedWrite(),
  };
  const body = patchOp({ op: 'remove', path: `members[${longFilter}]` });
  const { status } = await createGroups(depsOf(directory, endless)).patch('1', body, context);
  expect(status).toBe(204);
});
