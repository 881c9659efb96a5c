// Tests which profile is suggested for the deviations of a connection.
import { deviations, profileOf, suggestProfile, type DeviationName } from '../../../src/scim/index.ts';

const seen = (counts: Partial<Record<DeviationName, number>>) =>
  suggestProfile(new Map(Object.entries(counts) as [DeviationName, number][]));

test.each([
  ['no deviation', {}, undefined],
  [
    'only deviations that fit every profile',
    { 'string-booleans': 500, 'unknown-attribute': 500, 'missing-schema': 9 },
    undefined,
  ],
  ['four capitalised operations, one less than is enough', { 'operation-case': 4 }, undefined],
  ['capitalised operations', { 'operation-case': 5 }, 'entra'],
  [
    'few deviations of each kind that Entra has',
    { 'operation-case': 2, 'path-keys': 2, 'unqualified-extension': 1 },
    'entra',
  ],
  ['group push of Okta', { 'read-only-ignored': 5, 'unknown-attribute': 1 }, 'okta'],
  [
    'group push of Okta, with filters that its profile refuses',
    { 'read-only-ignored': 9, 'unquoted-filter-value': 1 },
    'lenient',
  ],
  ['templates of OneLogin', { 'manager-id': 5, 'string-booleans': 5 }, 'lenient'],
  ['Entra with a single managerId', { 'operation-case': 500, 'manager-id': 1 }, 'lenient'],
  [
    'Entra with four read-only ids, one less than is enough',
    { 'operation-case': 500, 'read-only-ignored': 4 },
    'entra',
  ],
  ['deviations of Entra and of Okta', { 'operation-case': 500, 'read-only-ignored': 5 }, 'lenient'],
] as const)('which profile is suggested for the counted deviations: %s', (_, counts, expected) => {
  expect(seen(counts)).toBe(expected);
});

test('the suggested profile accepts every deviation that was seen', () => {
  // Deviations are taken from `auto`, which accepts all of them except those that it refuses by name.
  const names = deviations
    .filter(({ refusedBy = [] }) => !refusedBy.includes('auto'))
    .map(({ name }) => name);
  for (const one of names) {
    for (const other of names) {
      const name = seen({ [one]: 7, [other]: 7 });
      if (name === undefined) continue;
      const profile = profileOf(name);
      expect([one, profile.allows(one), other, profile.allows(other)]).toEqual([one, true, other, true]);
    }
  }
});

test('the profile that a deviation hints at accepts this deviation', () => {
  for (const { name, hint } of deviations) {
    if (hint) expect(profileOf(hint).allows(name)).toBe(true);
  }
});
