// Tests the message of a run that ends with held changes.
import type { Ref } from '../../../src/directory/records.ts';
import { withOpen } from '../../../src/reconcile/apply/make-report.ts';
import { untilApplied } from '../../../src/reconcile/apply/until-applied.ts';
import type { RunFindings } from '../../../src/reconcile/plan/run-findings.ts';
import type { ReconcileScope } from '../../../src/reconcile/scope.ts';
import { silentLogger } from '../../../src/support/logger.ts';
import { systemClock } from '../../../src/support/sources.ts';

const REFS: Ref[] = ['User:1', 'User:2', 'User:3'];

function scopeWith(blocked: Ref[]): ReconcileScope {
  async function* pages() {
    yield await Promise.resolve(REFS.map((ref) => ({ kind: 'deactivate', ref })));
  }
  const guardStore = { open: () => Promise.resolve({ id: 'main.7', total: REFS.length }), pages };
  return {
    connection: 'default',
    clock: systemClock,
    drifts: { stillMarked: () => Promise.resolve([]) },
    outbox: { guardStore, blocked: () => Promise.resolve(blocked) },
  } as unknown as ReconcileScope;
}

const options = { signal: new AbortController().signal, logger: silentLogger };

test('the result of a held run counts the changes of this run in the approval, and its dead letters', async () => {
  await expect(untilApplied(scopeWith(['User:9']), options, ['User:1'])).resolves.toEqual({
    outcome: 'held',
    message:
      'the guard holds 1 change of this run, 1 of 3 in the approval: scim-bridge approvals show default.main.7; 1 dead letter: see scim-bridge dead-letters list',
  });
});

test('the result of a held run names one number if the approval has only changes of this run', async () => {
  const { message } = await untilApplied(scopeWith([]), options, REFS);
  expect(message).toBe('the guard holds 3 changes: scim-bridge approvals show default.main.7');
});

test('processes run with other settings, and a run ends with held changes → its message tells of these settings too', () => {
  const findings = { moved: 0, rulesAgree: false } as RunFindings;
  const { message } = withOpen({ outcome: 'held', message: 'the guard holds 3 changes' }, findings);
  expect(message).toMatch(/^the guard holds 3 changes; processes of the service run with other settings /);
});
