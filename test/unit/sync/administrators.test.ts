// Tests the count of active administrators that remain after a deactivation.
import { PlatformAborted } from '../../../src/platform/errors.ts';
import type { ConsoleUser } from '../../../src/platform/wire.ts';
import type { SyncContext } from '../../../src/sync/context.ts';
import { createAdministrators, type Administrators } from '../../../src/sync/user/administrators.ts';
import { administratorStateOf } from '../../../src/sync/user/last-administrator.ts';

const account = (username: string, isAdmin = true, isDeactivated = false) => ({
  id: username,
  username,
  email: '',
  isAdmin,
  isDeactivated,
});

/** Creates the cache of a target; `pass` moves its clock. */
function createCache() {
  let now = 1_000_000;
  const known = createAdministrators({ now: () => now, sleep: () => Promise.resolve() });
  return { known, pass: (ms: number) => (now += ms) };
}

/** Creates the context of the sync that deactivates Bob. @param leavers userNames and SCIM ids of others whose deactivation is held */
const contextOf = (
  administrators: Administrators,
  client: object,
  leavers: [userName: string, id: string][] = [],
): SyncContext =>
  ({
    target: {
      name: 'main',
      administrators,
      catalogue: { isOwnedByAdministrator: () => Promise.resolve(false) },
      client,
      policy: { users: { protected: [] } },
    },
    outbox: {
      guardStore: {
        closingUsers: () => Promise.resolve(['User:b', ...leavers.map(([, id]) => `User:${id}`)]),
      },
    },
    links: {
      getMany: () => Promise.resolve(leavers.map(([userName, id]) => ({ id, core: { userName } }))),
    },
    link: { id: 'scim-Rob', core: { userName: 'Bob' } },
    work: { ref: 'User:b' },
    call: { signal: new AbortController().signal },
  }) as unknown as SyncContext;

test.each([
  ['an active administrator', account('Ada'), ['Ada']],
  ['a deactivated administrator', account('Ada', true, true), []],
  ['a user without the role', account('Ada', false), []],
])('which accounts of the list count as active administrators: %s', (_, seen, active) => {
  const { known } = createCache();
  known.see([seen]);
  expect(known.active().map(({ username }) => username)).toEqual(active);
});

test('an administrator last read a minute ago is still known as administrator, but does not count as one who remains', () => {
  const { known, pass } = createCache();
  known.see([account('Ada')]);
  pass(60_000);
  expect([known.active(), known.knows('ada')]).toEqual([[], true]);
  known.see([account('ada', false)]);
  expect(known.knows('Ada')).toBe(false);
});

test('the first deactivation reads no user list, later ones share one read, and a failed read is repeated', async () => {
  const { known } = createCache();
  let looks = 0;
  const look = () => Promise.resolve([account(`a${++looks}`)]);
  await known.awaitSharedRead(look);
  expect(looks).toBe(0);
  await expect(known.awaitSharedRead(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
  await Promise.all([known.awaitSharedRead(look), known.awaitSharedRead(look)]);
  expect([looks, known.knows('a1')]).toEqual([1, true]);
});

test('when the sync that began the shared read of the user list ends, another sync fails with PlatformAborted instead of a check result, and the list does not count as silent', async () => {
  const { known } = createCache();
  await known.awaitSharedRead(() => Promise.resolve([]));
  const ended = () =>
    Promise.reject(
      new PlatformAborted({ method: 'GET', route: '/api/v1/users' }, { redact: (text) => text }),
    );
  const context = contextOf(known, { accounts: { firstPage: ended } });
  await expect(administratorStateOf(context)).rejects.toThrow(PlatformAborted);
  expect(known.isSilent()).toBe(false);
});

/** Bob, an administrator, after somebody renamed his account to Rob. */
const rob = account('Rob');
const ada = account('Ada');

test.each([
  ['nothing was read before', { listed: [rob] }, ['last', 1]],
  ['an earlier check saw the account', { listed: [rob], seen: [rob] }, ['last', 1]],
  ['an earlier check saw another administrator', { listed: [rob, ada], seen: [ada] }, ['replaceable', 1]],
  ['an earlier check saw both', { listed: [rob, ada], seen: [rob, ada] }, ['replaceable', 2]],
  ['the other one is to be closed too', { listed: [rob, ada], leavers: ['Ada'] }, ['last', 1]],
  [
    'the other one is to be closed too, and was renamed',
    { listed: [rob, ada], seen: [rob, ada], leavers: ['Eve', 'scim-Ada'] },
    ['last', 2],
  ],
  [
    'the other one was renamed since the list was read',
    { listed: [rob], seen: [account('Eve')] },
    ['last', 2],
  ],
])(
  'an administrator whose account was renamed at the platform is to be closed: %s → state, and look-ups of accounts by userName',
  async (
    _,
    { listed, seen = [], leavers }: { listed: ConsoleUser[]; seen?: ConsoleUser[]; leavers?: string[] },
    expected,
  ) => {
    const { known } = createCache();
    known.see(seen);
    let lookUps = 0;
    const search = (text: string) =>
      Promise.resolve(listed.filter(({ username }) => username.toLowerCase().includes(text)));
    const findBy = (_name: string, userName: string) => {
      lookUps++;
      const shown = listed.filter(({ username }) => username === userName);
      return Promise.resolve(shown.map(({ username }) => ({ id: `scim-${username}`, userName: username })));
    };
    const client = {
      accounts: { search },
      users: { get: () => Promise.resolve({ userName: 'Rob' }), findBy },
    };
    const [userName, id = 'scim-other'] = leavers ?? [];
    const context = contextOf(known, client, userName === undefined ? [] : [[userName, id]]);
    expect([await administratorStateOf(context), lookUps]).toEqual(expected);
  },
);
