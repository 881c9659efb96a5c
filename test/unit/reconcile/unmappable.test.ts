// Tests which users' activation and memberships wait for a value, when the platform defines its attribute with another type.
import type { Ref } from '../../../src/directory/records.ts';
import type { PlanEntry } from '../../../src/reconcile/entry.ts';
import { usersWithTypeConflict } from '../../../src/reconcile/unwritten/unmappable.ts';

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

test.each<[string, Ref[], PlanEntry[], Ref[]]>([
  ['the applied value is lost', [], [lost], []],
  ['the value was pushed', ['User:ann'], [entry('setAttribute', 'source changed')], []],
  ['the account is linked anew', ['User:ann'], [entry('relink', 'platform changed'), lost], []],
  ['the account is made anew', ['User:ann'], [entry('create', 'platform changed')], []],
  ['the last sync could not write values', ['User:ann'], [lost], ['User:ann']],
])(
  'an attribute has another type at the platform and %s → activation and memberships of the users %j wait for the value',
  (_, waiting, entries, refused) => {
    const conflicts = new Map([['level', 'is string at the platform']]);
    expect(usersWithTypeConflict(entries, conflicts, new Set(refused))).toEqual(waiting);
  },
);
