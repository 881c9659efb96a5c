// Tests the exceptions of a plan while syncs add exceptions.
import { exceptionsOfPlan } from '../../../src/reconcile/plan/plan-exceptions.ts';
import type { ReconcileScope } from '../../../src/reconcile/scope.ts';

test('a plan shows the larger number as total when its exceptions grow between count and list', async () => {
  const items = Array.from({ length: 28 }, (_, number) => ({
    ref: `User:${number}` as const,
    reason: 'NotAdopted' as const,
    since: 1,
    name: `p${number}@acme.example`,
    message: 'the account exists already and adopt is report',
  }));
  const outbox = {
    backlog: () => Promise.resolve({ exceptions: { total: 3 } }),
    exceptions: () => Promise.resolve(items),
  };
  const found = await exceptionsOfPlan({ outbox } as unknown as ReconcileScope, [], new Map());
  expect(found.total).toBe(28);
  expect(found.items).toHaveLength(28);
});
