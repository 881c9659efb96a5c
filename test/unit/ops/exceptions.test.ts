// Tests the advice of listed exceptions.
import type { DesiredState } from '../../../src/directory/desired-state.ts';
import { listExceptions } from '../../../src/ops/exceptions.ts';

test.each([
  ['owner of the platform key: a bridge could lock itself out', /^Leave the account to its owner/],
  [
    'listed in users.protected: the bridge does not touch this account',
    /^Take the name out of users.protected/,
  ],
])('the advice for a protected account fits its reason: %s', async (message, advice) => {
  const found = { ref: 'User:1', reason: 'Protected', since: 0, name: 'boss@acme.example', message };
  const outbox = { exceptions: () => Promise.resolve([found]) };
  const state = { connection: 'default', outboxes: new Map([['main', outbox]]) } as unknown as DesiredState;
  const [view] = await listExceptions([state], { limit: 10 });
  expect(view?.advice).toMatch(advice);
});
