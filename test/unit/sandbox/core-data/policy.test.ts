// Tests which rows and members the access policies of a cube show to a user.
import type { CoreDataSecurityContext } from '../../../../src/sandbox/core-data/core-data.ts';
import type { Cube, Policy } from '../../../../src/sandbox/core-data/model.ts';
import { policyFilters } from '../../../../src/sandbox/core-data/policy.ts';
import { SALES_MODEL } from '../../../../src/sandbox/core-data/sales-model.ts';
import { contextOfClaims } from '../../../../src/sandbox/core-data/security-context.ts';

const [template] = SALES_MODEL.cubes;

/** Returns the filters that the policies add to a query of these members; null = the query sees no rows. */
function filters(
  policies: readonly Policy[],
  context: Partial<CoreDataSecurityContext>,
  members = ['country'],
): unknown {
  const cube: Cube = { ...(template as Cube), policies };
  const names = members.map((name) => `${cube.name}.${name}`);
  return policyFilters([cube], names, { groups: [], userAttributes: {}, ...context });
}
const own = (group: string, ...values: string[]): Policy => ({
  groups: [group],
  filters: [{ dimension: 'country', operator: 'equals', values }],
});
const COUNTRY = '{ userAttributes.country }';
const by = (operator: string, ...values: unknown[]) => ({ member: 'orders.country', operator, values });
const equal = (...values: string[]) => by('equals', ...values);

test('a cube without policies shows every row, and a cube whose policies match no group of the user shows none', () => {
  expect(filters([], {})).toEqual([]);
  expect(filters([own('analysts', 'DE')], { groups: ['others'] })).toBeNull();
  expect(filters([own('*', 'DE')], {})).toEqual([equal('DE')]);
});

test('several policies match → the rows of each policy are visible, and all rows if one policy has no filter', () => {
  const policies = [own('analysts', COUNTRY), own('french', 'FR'), { groups: ['everything'], filters: [] }];
  const userAttributes = { country: 'DE' };
  expect(filters(policies, { groups: ['analysts', 'french'], userAttributes })).toEqual([
    { or: [equal('DE'), equal('FR')] },
  ]);
  expect(filters(policies, { groups: ['analysts', 'everything'], userAttributes })).toEqual([]);
});

test('a query returns a row only if for each queried member some policy shows the member and allows the row', () => {
  const showing = (policy: Policy, ...includes: string[]): Policy => ({
    ...policy,
    members: { includes, excludes: [] },
  });
  const policies = [
    showing(own('*', 'DE'), 'country', 'status'),
    showing(own('*', 'FR'), 'country', 'count'),
  ];
  expect(filters(policies, {})).toEqual([{ or: [equal('DE'), equal('FR')] }]);
  expect(filters(policies, {}, ['status'])).toEqual([equal('DE')]);
  expect(filters(policies, {}, ['status', 'count'])).toEqual([{ and: [equal('DE'), equal('FR')] }]);
  expect(filters(policies, {}, ['country', 'created_at'])).toBeNull();
});

test('in a policy filter a template renders a list as text joined by commas, and a missing attribute as the word undefined', () => {
  const policies = [own('analysts', COUNTRY)];
  const at = (userAttributes: Record<string, string | number | string[]>) =>
    filters(policies, { groups: ['analysts'], userAttributes });
  expect(at({ country: ['DE', 'FR'] })).toEqual([equal('DE,FR')]);
  expect(at({ country: 7 })).toEqual([equal('7')]);
  expect(at({ country: [] })).toEqual([equal('')]);
  for (const userAttributes of [{}, { Country: 'DE' }])
    expect(at(userAttributes)).toEqual([equal('undefined')]);
  expect(filters([own('*', '{ userAttributes.toString }')], {})).toEqual([equal('undefined')]);
});

test("a policy filter with `values: userAttributes.countries` gets the attribute's list, or its text, unchanged", () => {
  const list = [{ dimension: 'country', operator: 'in' as const, values: 'userAttributes.countries' }];
  const at = (userAttributes: Record<string, string | string[]>) =>
    filters([{ groups: ['*'], filters: list }], { userAttributes });
  expect(at({ countries: ['DE', 'US'] })).toEqual([by('in', 'DE', 'US')]);
  expect(at({ countries: 'DE' })).toEqual([{ ...by('in'), values: 'DE' }]);
  expect(at({})).toEqual([{ member: 'orders.country', operator: 'in' }]);
});

test('groups and userAttributes of a token are read only inside its claim `cubeCloud`, without values of wrong types', () => {
  const empty = { groups: [], userAttributes: {} };
  for (const claims of [
    {},
    { groups: ['a'] },
    { cubeCloud: 'a' },
    { cubeCloud: { groups: 'a', userAttributes: ['b'] } },
  ]) {
    expect(contextOfClaims(claims)).toEqual(empty);
  }
  const wrapper = {
    groups: ['a', 7, null],
    userAttributes: { x: 1, y: { z: 1 }, w: ['1'], v: [1, 'a'], n: null },
  };
  expect(contextOfClaims({ cubeCloud: wrapper })).toEqual({
    groups: ['a'],
    userAttributes: { x: 1, w: ['1'] },
  });
});
