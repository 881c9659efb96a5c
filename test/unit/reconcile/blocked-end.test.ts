// Tests what follows a run that ends as blocked only because people wait for the removal from a refused group.
import { noCoverage } from '../../../src/directory/outbox/coverage.ts';
import type { Ref } from '../../../src/directory/records.ts';
import { restoreLostAtEnd } from '../../../src/reconcile/apply/apply-plan.ts';
import { endOfRun } from '../../../src/reconcile/apply/end-of-run.ts';
import { CONVERGED, type End } from '../../../src/reconcile/apply/ends.ts';
import { withLoss } from '../../../src/reconcile/apply/make-report.ts';
import type { Plan } from '../../../src/reconcile/plan.ts';
import type { RunFindings } from '../../../src/reconcile/plan/run-findings.ts';
import type { ReconcileScope } from '../../../src/reconcile/scope.ts';
import { silentLogger } from '../../../src/support/logger.ts';
import { systemClock } from '../../../src/support/sources.ts';

const LOST: Ref = 'User:2';
const plan = {
  id: '1',
  entries: [] as Plan['entries'],
  coverage: { users: noCoverage(), groups: noCoverage() },
} as Plan;

/** A scope with one person behind a refused group, and these dead letters; `restored` gets the resources that are marked as lost. */
function scopeWith(letters: Ref[], restored: Ref[] = []): ReconcileScope {
  return {
    target: { name: 'main', policy: { policy: 'sync' } },
    clock: systemClock,
    isDataLost: () => Promise.resolve(true),
    coverage: {
      resources: async function* (kind: string) {
        await Promise.resolve();
        const isLost = kind === 'User' && restored.length === 0;
        yield { linked: [], others: isLost ? [{ ref: LOST, state: 'missing' }] : [] };
      },
      restoreMarks: (refs: Ref[]) => Promise.resolve(restored.push(...refs)),
    },
    drifts: { stillMarked: () => Promise.resolve([]), readLinks: () => Promise.resolve([]) },
    outbox: {
      guardStore: { open: () => Promise.resolve(undefined) },
      blocked: () => Promise.resolve(letters.map((ref) => ({ ref }))),
      behindRefused: () => Promise.resolve(['User:1']),
    },
  } as unknown as ReconcileScope;
}

const options = { signal: new AbortController().signal, logger: silentLogger };
const ended = (scope: ReconcileScope): Promise<End> =>
  endOfRun(scope, options, { plan, isProven: true, toJudge: [], synced: [], end: CONVERGED });

/** Ends a run that has marked a resource. @returns the outcome, and the lost resources that it marked then */
async function restoredBy(letters: Ref[]): Promise<[outcome: string, restored: Ref[]]> {
  const restored: Ref[] = [];
  const scope = scopeWith(letters, restored);
  const run = {
    startedAt: 0,
    findings: { isShown: () => false } as unknown as RunFindings,
    plan,
    carried: { end: await ended(scope), isWhole: true, marked: ['User:3' as Ref] },
  };
  const { end } = await restoreLostAtEnd(scope, { ...options, repair: true, guard: {} as never }, run);
  return [end.outcome, restored];
}

test('people wait for a refused group, and a desired resource is missing → the run marks it and ends as blocked all the same', async () => {
  await expect(restoredBy([])).resolves.toEqual(['blocked', [LOST]]);
  await expect(restoredBy(['Group:1'])).resolves.toEqual(['blocked', []]);
});

test('people wait for a refused group, and Redis came back empty → the run is unproven and tells of both', async () => {
  const scope = scopeWith([]);
  await expect(withLoss(scope, await ended(scope))).resolves.toEqual({
    outcome: 'unproven',
    message: expect.stringMatching(/^1 person waits .*; Redis came back empty/),
  });
});
