// Tests the time of the last successful reconcile of a target that several connections feed.
import { readShared, type MetricSources } from '../../../src/app/shared-metrics.ts';
import type { Backlog } from '../../../src/directory/outbox/backlog.ts';
import { RESOURCE_REASONS, toExceptionCounts } from '../../../src/directory/outbox/exceptions.ts';
import { createMetrics } from '../../../src/support/metrics.ts';

const backlog = (lastSuccessAt?: number): Backlog => ({
  dirty: 0,
  inflight: 0,
  blocked: 0,
  oldestMs: 0,
  onHold: false,
  now: 0,
  due: 0,
  load: null,
  failedRuns: 0,
  expected: null,
  priorities: { deactivation: 0, edit: 0, new: 0, reconcile: 0 },
  held: { deactivate: 0, delete: 0, removeMembers: 0, clearAttributes: 0 },
  exceptions: toExceptionCounts(
    RESOURCE_REASONS.map(() => [0, '']),
    '',
    0,
  ),
  writes: {},
  ...(lastSuccessAt === undefined ? {} : { lastSuccessAt }),
});

async function lastSuccessOf(...backlogs: Backlog[]): Promise<number | undefined> {
  const metrics = createMetrics();
  await readShared(metrics, ['main'], {
    pulse: () => Promise.resolve({ up: true, latencyMs: 1, role: 'master', memory: { used: 1, limit: 0 } }),
    backlogs: () => Promise.resolve(backlogs),
    breaker: () => Promise.resolve({ open: false }),
    tokens: () => [],
    events: () => Promise.resolve([]),
    faults: () => Promise.resolve([]),
    logChecks: () => Promise.resolve([]),
    lastSweeps: () => new Map(),
    reconcileGapMs: 1_800_000,
    fleet: () => Promise.resolve({ processes: [], findings: [] }),
  } as unknown as MetricSources);
  return (await metrics.reconcileLastSuccess.get()).values[0]?.value;
}

test.each([
  ['no connection has a value', [backlog(), backlog()], 0],
  ['one connection has no value', [backlog(5000), backlog()], 0],
  ['all connections have a value', [backlog(5000), backlog(3000)], 3],
])(
  'the metric of the last successful reconcile has the oldest value of all connections, and 0 if a connection has none: %s',
  async (_what, backlogs, seconds) => {
    await expect(lastSuccessOf(...backlogs)).resolves.toBe(seconds);
  },
);
