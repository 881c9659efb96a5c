// Tests the sentence about a target that gives no good answer.
import { targetSilent } from '../../../src/reconcile/target-silent.ts';

const state = { open: true, since: 0, status: 0 };
const textOf = (last: { status: number; error?: string } | undefined): string =>
  targetSilent('main', {
    now: 9000,
    state: state,
    silence: { since: 0, failures: 0, last: last && { route: '/api/scim/v2/Users', ...last } },
  }).message;

test('the error about a silent target says how a call failed only after a call of this process has ended', () => {
  expect(textOf(undefined)).toMatch(/ since 1970-01-01T00:00:00.000Z[.] Check it with scim-bridge doctor/);
  expect(textOf({ status: 0, error: 'PlatformTimeout' })).toContain(': a call got no answer in time.');
  expect(textOf({ status: 0, error: 'PlatformConnection' })).toContain(': no connection was possible');
});
