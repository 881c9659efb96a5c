// Tests the count of active administrators that remain after a deactivation.
import { PlatformAborted } from '../../../src/platform/errors.ts';
import type { SyncContext } from '../../../src/sync/context.ts';
import { createAdministrators } from '../../../src/sync/user/administrators.ts';
import { administratorStateOf } from '../../../src/sync/user/last-administrator.ts';

const account = (username: string, isAdmin = true, isDeactivated = false) => ({
  id: username,
  username,
  email: '',
  isAdmin,
  isDeactivated,
});
const none = new Set<string>();

/** Creates the cache of a target; `pass` moves its clock. */
function createCache() {
  let now = 1_000_000;
  const known = createAdministrators({ now: () => now, sleep: () => Promise.resolve() });
  return { known, pass: (ms: number) => (now += ms) };
}

test.each([
  ['an active administrator counts', [account('Ada')], none, true],
  ['an administrator who is to be closed too does not count', [account('Ada')], new Set(['ada']), false],
  ['a deactivated administrator does not count', [account('Ada', true, true)], none, false],
  ['a user without the role does not count', [account('Ada', false)], none, false],
  ['no account means that none remains', [], none, false],
])(
  'which account counts as an administrator who remains after the planned deactivations: %s',
  (_, accounts, leaving, remains) => {
    const { known } = createCache();
    known.see(accounts);
    expect(known.remainsWithout(leaving)).toBe(remains);
  },
);

test('an administrator last read a minute ago is still known as administrator, but does not count as one who remains', () => {
  const { known, pass } = createCache();
  known.see([account('Ada')]);
  pass(60_000);
  expect([known.remainsWithout(none), known.knows('ada')]).toEqual([false, true]);
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
  const context = {
    target: {
      administrators: known,
      catalogue: { isOwnedByAdministrator: () => Promise.resolve(false) },
      client: { accounts: { firstPage: ended } },
      policy: { users: { protected: [] } },
    },
    outbox: { guardStore: { closingUsers: () => Promise.resolve([]) } },
    link: { core: { userName: 'Bob' } },
    work: { ref: 'User:b' },
    call: { signal: new AbortController().signal },
  } as unknown as SyncContext;
  await expect(administratorStateOf(context)).rejects.toThrow(PlatformAborted);
  expect(known.isSilent()).toBe(false);
});
