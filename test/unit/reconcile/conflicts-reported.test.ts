// Tests which memberships a plan reports behind a conflict.
import type { PlanEntry } from '../../../src/reconcile/entry.ts';
import { withConflictsReported } from '../../../src/reconcile/unwritten/conflicts-reported.ts';

const base: PlanEntry = {
  action: 'conflict',
  kind: 'User',
  ref: 'User:ann',
  platformId: null,
  name: 'ann@acme.example',
  before: null,
  after: null,
  effect: 'report',
  reason: '',
  attribution: { cause: 'platform changed' },
  basis: { version: 1, link: '' },
};
const membership: PlanEntry = {
  ...base,
  action: 'addMember',
  kind: 'Group',
  ref: 'Group:ops',
  member: { ref: 'User:ann', platformId: null, name: 'ann@acme.example' },
  effect: 'apply',
  attribution: { cause: 'source changed' },
};

test.each<[string, PlanEntry['effect'], Partial<PlanEntry>]>([
  ['a lost account whose name another account has', 'report', {}],
  ['a lost group whose name another group has', 'report', { kind: 'Group', ref: 'Group:ops' }],
  ['a lost value of another type', 'apply', { attribute: 'level' }],
  ['a pushed value of another type', 'report', { attribute: 'level', attribution: { cause: 'none' } }],
])('a plan has the conflict of %s → a membership beside it has the effect %s', (_, effect, conflict) => {
  const [, told] = withConflictsReported([{ ...base, ...conflict }, membership]);
  expect(told?.effect).toBe(effect);
});
