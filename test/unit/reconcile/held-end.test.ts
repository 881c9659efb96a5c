// Tests the message of a run that ends with held changes.
import type { Ref } from '../../../src/directory/records.ts';
import { CONVERGED, type End } from '../../../src/reconcile/apply/ends.ts';
import { endOfRun } from '../../../src/reconcile/apply/end-of-run.ts';
import { withOpen } from '../../../src/reconcile/apply/make-report.ts';
import { untilApplied } from '../../../src/reconcile/apply/until-applied.ts';
import type { Plan } from '../../../src/reconcile/plan.ts';
import type { RunFindings } from '../../../src/reconcile/plan/run-findings.ts';
import type { ReconcileScope } from '../../../src/reconcile/scope.ts';
import { silentLogger } from '../../../src/support/logger.ts';
import { systemClock } from '../../../src/support/sources.ts';

const GROUPS: Ref[] = ['Group:1', 'Group:2'];
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

/** Returns the scope of a target on hold. @param marked the resources that no sync has applied */
function onHold(marked: readonly Ref[]): ReconcileScope {
  const hold = { since: 0, by: 'kim' };
  return {
    target: { name: 'main' },
    clock: systemClock,
    links: { getMany: () => Promise.resolve([{}]) },
    drifts: { stillMarked: (refs: Ref[]) => Promise.resolve(refs.filter((ref) => marked.includes(ref))) },
    outbox: {
      guardStore: { onHold: () => Promise.resolve(hold), open: () => Promise.resolve(undefined) },
      blocked: () => Promise.resolve([]),
      behindRefused: () => Promise.resolve([]),
      resourceStatus: () => Promise.resolve({}),
      backlog: () => Promise.resolve({ exceptions: {} }),
    },
  } as unknown as ReconcileScope;
}

/** Returns the end of a run that waits for `Group:1` with a rejected change while the target is on hold. */
const endOnHold = (synced: Ref[], end: End = CONVERGED): Promise<End> => {
  const plan = { entries: [] as Plan['entries'] } as Plan;
  const applied = { plan, isProven: true, toJudge: ['Group:1'] as Ref[], synced, end };
  return endOfRun(onHold(['Group:1']), options, applied);
};

test('a hold is ordered while a run waits for resources with rejected changes → the run ends as held and tells of the hold', async () => {
  await expect(endOnHold([])).resolves.toMatchObject({
    outcome: 'held',
    message: expect.stringContaining('on hold'),
  });
});

test('processes run with other settings, and a hold is ordered after a change of the run was applied → the message tells of these settings', async () => {
  const findings = { moved: 0, rulesAgree: false } as RunFindings;
  const isTold = (end: End) => withOpen(end, findings).message?.includes('run with other settings');
  expect(isTold(await untilApplied(onHold(GROUPS), options, GROUPS))).toBe(false);
  expect(isTold(await untilApplied(onHold(['Group:2']), options, GROUPS))).toBe(true);
  expect(isTold(await endOnHold([]))).toBe(false);
  expect(isTold(await endOnHold(['User:1']))).toBe(true);
});

test('processes run with other settings, and a run ends with dead letters, or was stopped by a hold → only the message of the first tells of these settings', () => {
  const findings = { moved: 0, rulesAgree: false } as RunFindings;
  const messageOf = (end: End) => withOpen(end, findings).message;
  expect(messageOf({ outcome: 'blocked', message: '1 dead letter' })).toMatch(
    /^1 dead letter; processes of the service run with other settings /,
  );
  const stopped = { outcome: 'held', message: 'the target was on hold', isStopped: true } as const;
  expect(messageOf(stopped)).toBe('the target was on hold');
});
