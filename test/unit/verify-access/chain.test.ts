// Tests the times of the chain that verify-access reports.
import { toAccessReport } from '../../../src/verify-access/chain.ts';
import type { Facts } from '../../../src/verify-access/facts.ts';
import type { LastWrites } from '../../../src/verify-access/last-write.ts';

const PUSHED = Date.parse('2026-01-05T19:14:21.000Z');
const MINUTE_MS = 60_000;

function timesOf(writes: LastWrites): { at: string | undefined; afterMs: number | undefined }[] {
  const facts = {
    asked: 'ada@acme.example',
    target: 'main',
    link: { id: '7' },
    isMarked: false,
    writes,
    person: {
      connection: 'default',
      ref: 'User:1',
      kind: 'User',
      id: '1',
      name: 'ada@acme.example',
      record: { version: 3, lastModified: PUSHED },
      deleted: undefined,
    },
    wanted: { kind: 'closed', why: 'inactive at the source' },
    reading: undefined,
    differences: [],
    typeConflicts: [],
    leftAlone: [],
    context: undefined,
    visibility: undefined,
    fault: undefined,
    isQueryAsked: false,
    removedTargets: [],
    redisTookMs: 1,
    accountTookMs: 1,
  } as unknown as Facts;
  return toAccessReport(facts).chain.map(({ at, afterMs }) => ({ at, afterMs }));
}

test('a later reconcile wrote the values of a push → verify-access shows the push time and no duration', () => {
  const reconciled = PUSHED + 4 * MINUTE_MS;
  const [push, stored, applied] = timesOf({ newestAt: reconciled + 14 });
  expect(push?.at).toBe('2026-01-05T19:14:21.000Z');
  expect(stored).toEqual({ at: '2026-01-05T19:14:21.000Z', afterMs: 0 });
  expect(applied).toEqual({ at: '2026-01-05T19:18:21.014Z', afterMs: undefined });
});

test('verify-access shows the time from push to write, even after later writes', () => {
  const [, , applied] = timesOf({ newestAt: PUSHED + MINUTE_MS, ofPushAt: PUSHED + 14 });
  expect(applied).toEqual({ at: '2026-01-05T19:14:21.014Z', afterMs: 14 });
});

test('a push came after the last write → verify-access shows no time of application', () => {
  const [, , applied] = timesOf({ newestAt: PUSHED - MINUTE_MS + 14 });
  expect(applied).toEqual({ at: undefined, afterMs: undefined });
});
