// Tests the reason why a handover moves nothing now.
import { whyStopped } from '../../../src/reconcile/handover/handover-steps.ts';
import type { BreakerState } from '../../../src/directory/outbox/breaker.ts';
import type { ReconcileScope } from '../../../src/reconcile/scope.ts';

const SINCE = Date.parse('2026-01-01T00:00:00Z');

const stopAt = (breaker: BreakerState): Promise<string | undefined> =>
  whyStopped(
    {
      outbox: { guardStore: { onHold: () => Promise.resolve(undefined) } },
      target: { name: 'main', breaker: { read: () => Promise.resolve(breaker) } },
    } as unknown as ReconcileScope,
    new AbortController().signal,
  );

test.each([
  [0, 'the target does not answer; no call has succeeded'],
  [403, 'the target answers 403; no call has succeeded'],
  [401, 'the target refuses the key (401)'],
])('only probes are sent after status %d → a handover names how the target fails', async (status, words) => {
  await expect(stopAt({ open: true, since: SINCE, status })).resolves.toBe(
    `${words} since 2026-01-01T00:00:00.000Z, so only probes are sent`,
  );
});

test('the target answers → nothing stops a handover', async () => {
  await expect(stopAt({ open: false })).resolves.toBeUndefined();
});
