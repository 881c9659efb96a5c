// Tests how a comparison finds console accounts when the list of all of them cannot be read.
import { EndpointAbsent, PlatformResponse, PlatformTimeout } from '../../../src/platform/errors.ts';
import type { ConsoleUser } from '../../../src/platform/wire.ts';
import { listConsoleAccounts } from '../../../src/reconcile/compare/console-list.ts';

const CONTEXT = { method: 'GET', route: '/api/v1/users' };

/** Returns a finder of accounts whose list fails after one account, and the requests that it made. */
function failingList(error: Error) {
  const account = (username: string): ConsoleUser => ({
    id: username,
    username,
    email: '',
    externalId: null,
    isAdmin: false,
  });
  const made = { lists: 0, searches: 0 };
  const accounts = {
    // eslint-disable-next-line @typescript-eslint/require-await
    async *list() {
      made.lists++;
      yield account('first');
      throw error;
    },
    search: (text: string) => {
      made.searches++;
      return Promise.resolve([account(text)]);
    },
  };
  const counts = { calls: 0 };
  const client = { accounts } as unknown as Parameters<typeof listConsoleAccounts>[0];
  const find = listConsoleAccounts(client, counts, (read) => read());
  const ask = async (name: string) => (await find(name, {})).map(({ id }) => id);
  return { ask, made, counts };
}

test('the list of all accounts breaks off → the list is not read again, and each person is searched for singly', async () => {
  const { ask, made, counts } = failingList(new PlatformTimeout(1, CONTEXT));
  expect(await Promise.all([ask('ann'), ask('bob')])).toEqual([['ann'], ['bob']]);
  expect(await ask('cleo')).toEqual(['cleo']);
  expect(made).toEqual({ lists: 1, searches: 3 });
  expect(counts.calls).toBe(4);
});

test('the tenant lacks the endpoint for the list of all accounts → the error is thrown, and the list is not read again', async () => {
  const { ask, made } = failingList(new EndpointAbsent(404, CONTEXT));
  await expect(ask('ann')).rejects.toThrow(EndpointAbsent);
  expect(await ask('bob')).toEqual(['bob']);
  expect(made).toEqual({ lists: 1, searches: 1 });
});

test('the list of all accounts is still answered with 429 after the waits → no person is searched for, and the error is no 429 that a caller would wait for', async () => {
  const limited = new PlatformResponse({ status: 429, platformMessage: 'slow down' }, CONTEXT);
  const { ask, made, counts } = failingList(limited);
  for (const name of ['ann', 'bob', 'cleo']) {
    const error: unknown = await ask(name).catch((thrown: unknown) => thrown);
    expect(error).not.toHaveProperty('status');
    expect(error).toHaveProperty('message', 'GET /api/v1/users still answers 429 (too many requests)');
  }
  expect(made).toEqual({ lists: 1, searches: 0 });
  expect(counts.calls).toBe(1);
});
