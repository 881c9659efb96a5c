// Tests which accounts without a link a plan lists beside dead letters of their names.
import type { PlanEntry } from '../../../src/reconcile/entry.ts';
import { unmanagedEntries } from '../../../src/reconcile/plan/unmanaged-entries.ts';

const ANN = 'ann@acme.example';

const letter = (reason: string): PlanEntry => ({
  action: 'conflict',
  kind: 'User',
  ref: 'User:1',
  platformId: null,
  name: ANN,
  before: null,
  after: null,
  effect: 'report',
  reason,
  attribution: { cause: 'none' },
  basis: { version: 0, link: '' },
});

const listed = (...reasons: string[]): string[] =>
  unmanagedEntries(
    { unmanaged: new Map([['p-1', ANN]]) },
    { unmanaged: new Map() },
    reasons.map(letter),
    undefined,
  ).map(({ reason }) => reason);

test.each(['NotAdopted', 'Conflict', 'TakenByConnection'])(
  'an account that is named in a dead letter with the reason %s is not listed as unmanaged too',
  (reason) =>
    expect(listed(`${reason}: the account belongs to Ann@acme.example (User:2) of connection hr`)).toEqual(
      [],
    ),
);

test.each([
  [['Conflict: the account has it', 'Forbidden: not allowed']],
  [['Forbidden: not allowed', 'Conflict: the account has it']],
])(
  'one of two dead letters with the name of an account is about this account → the account is not listed as unmanaged: %j',
  (reasons) => expect(listed(...reasons)).toEqual([]),
);

test('a dead letter is about another account with the same externalId → the account is listed as unmanaged', () =>
  expect(listed('TakenByConnection: the account belongs to other@acme.example (User:2)')).toHaveLength(1));

test('an account shares only its name with a dead letter → it is listed as unmanaged with a warning', () =>
  expect(listed('Forbidden: not allowed', 'Forbidden: not allowed')).toEqual([
    expect.stringContaining('may take it over'),
  ]));
