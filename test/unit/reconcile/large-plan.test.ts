// Tests the text of a large plan: counts by action and cause first, and sections of bounded length.
import type { Action, PlanEntry } from '../../../src/reconcile/entry.ts';
import { countsOf, type Plan } from '../../../src/reconcile/plan.ts';
import { renderPlan } from '../../../src/reconcile/text/render.ts';
import { wholeLines } from '../../../src/support/columns.ts';

const entry = (action: Action, index: number, more: Partial<PlanEntry> = {}): PlanEntry => ({
  action,
  kind: 'User',
  ref: `User:${index}`,
  platformId: null,
  name: `u${index}@acme.example`,
  before: null,
  after: { userName: `u${index}@acme.example` },
  effect: 'apply',
  reason: 'has no account yet',
  attribution: { cause: 'mapping changed' },
  basis: { version: 1, link: '' },
  ...more,
});
const many = (count: number, one: (index: number) => PlanEntry): PlanEntry[] =>
  Array.from({ length: count }, (_, index) => one(index));

const noCoverage = {
  desired: 0,
  linked: 0,
  seen: 0,
  pending: 0,
  held: 0,
  deadLetters: 0,
  exceptions: 0,
  missing: 0,
};

function planOf(entries: PlanEntry[]): Plan {
  const proof = { complete: true, total: 1, seen: 1 };
  return {
    format: 'scim-bridge plan',
    formatVersion: 1,
    id: 'p',
    createdAt: '2026-01-01T00:00:00.000Z',
    connection: 'default',
    target: 'main',
    mapping: '',
    proof: { users: proof, groups: proof },
    unknown: 0,
    cost: { calls: 1, values: { read: 0, of: 0 }, members: { read: 0, of: 0 }, durationMs: 1 },
    coverage: { users: noCoverage, groups: noCoverage },
    exceptions: { total: 0, items: [] },
    counts: countsOf(entries),
    entries,
  };
}

const mover = (index: number): PlanEntry =>
  entry('addMember', index, {
    kind: 'Group',
    ref: `Group:${index % 90}`,
    name: `group ${index % 90}`,
    member: { ref: `User:${index}`, platformId: null, name: `u${index}@acme.example` },
    attribution: { cause: 'platform changed', by: `admin${index % 7}@acme.example` },
  });

test('a plan of 1,200 changes in 90 groups by 7 actors has at most 40 lines, which begin with counts by action and by cause', () => {
  const entries = [
    ...many(700, mover),
    ...many(499, (index) => entry('create', index)),
    entry('deactivate', 7),
  ];
  const lines = renderPlan(planOf(entries), { all: false, colour: false });
  expect(lines.length).toBeLessThanOrEqual(40);
  expect(lines[0]).toBe(
    'default → main: 1200 changes. 1 to deactivate, 499 to create, 700 memberships to add.',
  );
  expect(lines).toContain(
    '  causes: 500 mapping changed, 100 platform changed by admin0@acme.example, 100 platform changed by admin1@acme.example, 100 platform changed by admin2@acme.example, 400 others',
  );
  expect(lines.join('\n')).toMatch(/… and \d+ more in \d+ smaller parts: --all, or --json/);
  expect(lines).toContain('        u7@acme.example');
  expect(renderPlan(planOf(entries), { all: true, colour: false }).length).toBeGreaterThan(3600);
});

test('the text of a plan uses singular nouns for a count of one', () => {
  const entries = [...many(41, (index) => entry('create', index)), mover(1)];
  expect(renderPlan(planOf(entries), { all: false, colour: false })[0]).toContain('1 membership to add');
});

test('users and groups of the platform could not be read → the plan says in its first line that no changes are known', () => {
  const plan = planOf([]);
  const unread = { complete: false, total: 0, seen: 0, reason: 'the key may not read users' };
  const item = {
    ref: 'User:1',
    reason: 'Protected',
    since: 0,
    name: 'owner@acme.example',
    message: '',
  } as const;
  const [headline] = renderPlan(
    { ...plan, proof: { users: unread, groups: unread }, exceptions: { total: 1, items: [item] } },
    { all: false, colour: false },
  );
  expect(headline).toBe(
    'default → main: no changes are known, but the platform could not be read whole, and there is 1 exception, see below.',
  );
});

test('a plan of every kind of change, with conflicts and exceptions, fits 50 lines, with removals first and each reason once', () => {
  const values = (count: number, first: number, action: 'setAttribute' | 'clearAttribute') =>
    many(count, (index) =>
      entry(action, index, {
        attribute: `level${first + (index % 4)}`,
        before: { level: 'n' },
        after: null,
        reason: 'the attribute has another value',
      }),
    );
  const entries = [
    ...many(60, (index) => entry('deactivate', index, { reason: 'inactive at the source' })),
    ...many(60, (index) => ({
      ...mover(index),
      action: 'removeMember' as const,
      reason: 'no member any more',
    })),
    ...values(120, 8, 'clearAttribute'),
    ...many(300, (index) => entry('create', index)),
    ...many(20, (index) => entry('reactivate', index, { reason: 'active at the source' })),
    ...many(219, (index) => ({ ...mover(index), reason: 'member at the source' })),
    ...many(140, (index) => entry('update', index, { after: { title: 'x' }, reason: 'title differs' })),
    ...values(800, 0, 'setAttribute'),
    ...many(60, (index) =>
      entry('conflict', index, { effect: 'report', reason: 'is no number; '.repeat(9) }),
    ),
    ...many(40, (index) => entry('unmanaged', index, { effect: 'report', reason: 'is not managed' })),
  ];
  const items = many(40, (index) => entry('conflict', 1000 + index)).map(({ ref, name }) => ({
    ref,
    name,
    reason: 'Held' as const,
    since: 0,
    message: 'the guard holds the deactivation of 1 member, who leaves the group with the account',
  }));
  const plan = planOf(entries);
  Object.assign(plan, { exceptions: { total: 40, items } });
  const lines = renderPlan(plan, { all: false, colour: false }).flatMap((line) => wholeLines(line));
  expect(lines.length).toBeLessThanOrEqual(50);
  expect(lines.filter((line) => line.includes('another value'))).toEqual([
    '- 120 attributes to clear, 4 attributes: the attribute has another value (mapping changed)',
    '~ 800 attributes to set, 4 attributes: the attribute has another value (mapping changed)',
  ]);
  const at = (part: string) => lines.findIndex((line) => line.includes(part));
  const order = [
    '- 60 to deactivate',
    '- 60 memberships',
    '+ 300 to create',
    '+ 219 memberships',
    '~ 140',
    '! 60 conf',
  ];
  expect(order.map(at)).toEqual(order.map(at).toSorted((one, other) => one - other));
  expect(at('- 60 to deactivate')).toBeGreaterThan(0);
  expect(at('40  held by the guard')).toBeGreaterThan(0);
});

const screen = (plan: Plan): string[] =>
  renderPlan(plan, { all: false, colour: false }).flatMap((line) => wholeLines(line));

test('a plan of 30 changes has one line for each change with its reason, cause and value', () => {
  const update = (index: number): PlanEntry =>
    entry('update', index, {
      before: { title: 'a' },
      after: { title: 'b' },
      reason: 'title differs',
      attribution: { cause: 'source changed' },
    });
  const lines = screen(planOf([...many(15, update), ...many(15, mover)]));
  expect(lines).toContain('~ update user u3@acme.example: title differs (source changed); title: "a" → "b"');
  expect(lines.filter((line) => line.includes('@acme.example in group'))).toHaveLength(15);
  expect(lines.length).toBeLessThanOrEqual(50);
});

test('a plan of up to 40 long changes, exceptions and handovers fits 50 lines and names the options that print everything', () => {
  const after = { title: 'x'.repeat(40), department: 'y'.repeat(40), userName: 'z'.repeat(100) };
  const items = many(40, (index) => entry('conflict', 1000 + index)).map(({ ref, name }) => ({
    ref,
    name,
    reason: 'Held' as const,
    since: 0,
    message: 'the guard holds the deactivation',
  }));
  const person = (index: number) => ({
    ref: `User:${index}`,
    name: `u${index}`,
    state: 'due',
    at: '2026-01-01',
    closedAt: '2026-01-01',
    folder: 'f',
    items: Array.from({ length: 9 }, (_, at) => ({
      type: 'WORKBOOK',
      name: 'w',
      id: String(at),
      fromPath: [],
    })),
  });
  const handover = {
    deployment: 'd',
    folder: 'f',
    problem: null,
    people: Array.from({ length: 30 }, (_, at) => person(at)),
  };
  for (const count of [0, 1, 20, 40]) {
    const plan = planOf(many(count, (index) => entry('update', index, { before: {}, after })));
    Object.assign(plan, { exceptions: { total: 40, items }, handover });
    const lines = screen(plan);
    expect([count, lines.length <= 50]).toEqual([count, true]);
    expect(lines.join('\n')).toContain('see scim-bridge exceptions');
    expect(lines.join('\n')).toContain('and 26 more: --all, or --json');
  }
});

test('a plan advises to correct the settings or the definition for a conflict of an attribute definition, not to use explain', () => {
  const conflict = entry('conflict', 0, { kind: 'Attribute', ref: null, name: 'country', effect: 'report' });
  const text = renderPlan(planOf([conflict]), { all: false, colour: false }).join('\n');
  expect(text).toContain('1 attribute definition needs a person: correct the settings, or the definition');
  expect(text).not.toContain('explain NAME');
});

test('a plan after a restore says that a change with the cause `restored from a backup` may also come from changed settings', () => {
  const pushed = entry('update', 0, { attribution: { cause: 'restored from a backup' } });
  const restored = { at: '2026-01-02T00:00:00.000Z', backup: null };
  const lines = renderPlan({ ...planOf([pushed]), restored }, { all: false, colour: false });
  expect(lines.join('\n').replaceAll(/\s+/g, ' ')).toContain('or come from settings that have changed since');
});
