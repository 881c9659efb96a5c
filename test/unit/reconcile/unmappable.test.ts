// Tests for whom more than the value waits when the platform defines an attribute with another type.
import type { Ref } from '../../../src/directory/records.ts';
import type { PlanEntry } from '../../../src/reconcile/entry.ts';
import { withTypeConflict } from '../../../src/reconcile/unmappable.ts';

const entry = (action: PlanEntry['action'], cause: PlanEntry['attribution']['cause']): PlanEntry => ({
  action,
  kind: 'User',
  ref: 'User:ann',
  platformId: '1',
  name: 'ann@acme.example',
  ...(action === 'setAttribute' ? { attribute: 'level' } : {}),
  before: null,
  after: { 'attributes.level': 3 },
  effect: 'apply',
  reason: '',
  attribution: { cause },
  basis: { version: 1, link: '' },
});
const lost = entry('setAttribute', 'platform changed');

test.each<[string, PlanEntry[], Ref[], Ref[]]>([
  ['the applied value is lost', [lost], [], []],
  ['the value was pushed', [entry('setAttribute', 'source changed')], [], ['User:ann']],
  ['the account is linked anew', [entry('relink', 'platform changed'), lost], [], ['User:ann']],
  ['the account is made anew', [entry('create', 'platform changed')], [], ['User:ann']],
  ['the last sync could not write values', [lost], ['User:ann'], ['User:ann']],
])('entries that wait for a value of another type at the platform: %s', (_, entries, refused, waiting) => {
  const conflicts = new Map([['level', 'is string at the platform']]);
  expect(withTypeConflict(entries, conflicts, new Set(refused))).toEqual(waiting);
});
