// Tests the advice of listed exceptions.
import type { DesiredState } from '../../../src/directory/desired-state.ts';
import { listExceptions } from '../../../src/ops/approvals/exceptions.ts';

test.each([
  [
    'owner of the platform key: a bridge could lock itself out',
    /else give the target a platform key of another account/,
  ],
  ['listed in users.protected', /else take the name out of targets\.main\.users\.protected and restart/],
])('the exceptions list advises how to end the protection of an account: %s', async (message, advice) => {
  const found = { ref: 'User:1', reason: 'Protected', since: 0, name: 'boss@acme.example', message };
  const outbox = { exceptions: () => Promise.resolve([found]) };
  const state = { connection: 'default', outboxes: new Map([['main', outbox]]) } as unknown as DesiredState;
  const [view] = await listExceptions([state], { limit: 10 });
  expect(view?.advice).toMatch(advice);
});
