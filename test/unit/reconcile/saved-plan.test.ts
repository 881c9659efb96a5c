// Tests the saved form of plans.
import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { PlanEntry } from '../../../src/reconcile/entry.ts';
import { parseSaved, savedPieces, type Plan } from '../../../src/reconcile/plan.ts';
import { canonicalJson } from '../../../src/support/canonical-json.ts';

const entry = (name: string): PlanEntry =>
  ({
    name,
    kind: 'User',
    action: 'create',
    after: { userName: name, note: '"entries":[]' },
  }) as unknown as PlanEntry;
const plan = (target: string, entries: PlanEntry[]): Plan =>
  ({
    format: 'scim-bridge plan',
    connection: '"entries":[]',
    target,
    unknown: 0,
    counts: {},
    entries,
  }) as unknown as Plan;
const textOf = (plans: Plan[]): string => [...savedPieces(plans)].join('');

test.each([
  ['no plan', []],
  ['a plan without entries', [plan('main', [])]],
  ['two plans', [plan('main', [entry('a'), entry('b')]), plan('other', [entry('c')])]],
])(
  'a saved file with %s is the expected JSON document, its hash covers all plans, and parseSaved returns the plans',
  (_, plans) => {
    const text = textOf(plans);
    const hash = createHash('sha256').update(canonicalJson(plans)).digest('hex');
    expect(text).toBe(JSON.stringify({ format: 'scim-bridge plans', formatVersion: 1, plans, hash }));
    expect(parseSaved(text)).toEqual(plans);
  },
);

test('parseSaved refuses a saved plan whose text was changed', () => {
  const text = textOf([plan('main', [entry('a')])]);
  expect(() => parseSaved(text.replace('"name":"a"', '"name":"b"'))).toThrow('The file was changed');
});
