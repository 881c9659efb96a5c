// Tests that the operators' page judges a target as the command status does.
import { isConverged, type TargetStatus } from '../../../src/ops/status/status.ts';
// @ts-expect-error The page is plain JavaScript.
import { labelOf, obstacles } from '../../../src/ui/target-state.js';
// @ts-expect-error The page is plain JavaScript.
import { pageWords } from '../../../src/ui/commands.js';

const NOTHING = { desired: 3, linked: 3, pending: 0, held: 0, deadLetters: 0, exceptions: 0, missing: 0 };
const NOW = Date.parse('2026-11-29T03:00:00.000Z');

/** A row of the status of a target at which nothing is left to do, with some parts replaced. */
const row = (change: object = {}): TargetStatus =>
  ({
    connection: 'default',
    target: 'main',
    dirty: 0,
    blocked: 0,
    guard: { held: 0 },
    exceptions: { total: 0 },
    coverage: { users: NOTHING, groups: NOTHING },
    reconcile: { last: null, lastSuccessAt: null, expected: null, overdue: null, next: null },
    breaker: { open: false },
    hold: null,
    proof: null,
    events: null,
    hasMoved: false,
    hasNewRules: false,
    lostAttributes: [],
    fleet: { processes: [], findings: [] },
    ...change,
  }) as unknown as TargetStatus;

const withLast = (last: object) => ({
  reconcile: { last, lastSuccessAt: NOW, expected: null, overdue: null, next: null },
});

test.each<[string, object, string]>([
  ['nothing is left to do', {}, 'In step'],
  ['a rejection stands', { exceptions: { total: 3 } }, 'Exceptions stand'],
  [
    'somebody is left alone',
    { coverage: { users: { ...NOTHING, exceptions: 1 }, groups: NOTHING } },
    'Exceptions stand',
  ],
  ['a reconcile ended with conflicts', withLast({ conflicts: { count: 2, reason: 'x' } }), 'Needs a person'],
  ['the address of the platform changed', { hasMoved: true }, 'Address changed'],
  ['the definition of an attribute was deleted', { lostAttributes: ['team'] }, 'Values may be lost'],
  ['the settings changed', { hasNewRules: true }, 'Not by the new settings'],
  ['a change waits', { dirty: 1 }, 'Catching up'],
  ['the guard holds a change', { guard: { held: 1 }, exceptions: { total: 1 } }, 'Waits for approval'],
  ['there is a dead letter', { blocked: 1 }, 'Needs a person'],
])(
  'while %s, the operators\' page labels the target %j as "%s", and as "In step" only if it is converged',
  (_when, change, label) => {
    const status = row(change);
    expect(labelOf(status)[1]).toBe(label);
    expect(label === 'In step').toBe(isConverged(status));
  },
);

test("the operators' page shows conflicts, faults of derived data and refused events of a target without `scim-bridge` command lines", () => {
  const status = row({
    ...withLast({ conflicts: { count: 2, reason: 'team is a number at the platform' } }),
    proof: { faults: 4 },
    events: { pending: 0, kept: 2, dropped: 0, problem: null },
  });
  expect(obstacles(status).map((text: string) => pageWords(text))).toEqual([
    '2 conflicts need a person: team is a number at the platform, and 1 more: Compare names them. Then order Reconcile',
    'Derived data in Redis differs from the records (4): the command doctor with the option deep names what',
    'Security events: 2 refused: the command events refused lists them',
  ]);
  const lost = { pending: 0, kept: 0, dropped: 2, droppedAt: null, problem: null };
  expect(obstacles(row({ events: lost }))).toEqual([
    'Security events: 2 dropped: the receiver has to read all users and groups anew, unless it has since',
  ]);
  expect(obstacles(row(withLast({})))).toEqual([]);
});

test("the operators' page shows the overdue comparison of a target, and advises to order Reconcile", () => {
  const reconcile = {
    last: null,
    lastSuccessAt: null,
    expected: null,
    overdue: 'nothing was compared',
    next: null,
  };
  expect(obstacles(row({ reconcile })).map((text: string) => pageWords(text))).toEqual([
    'Nothing was compared: order Reconcile, and look at its reason',
  ]);
});
