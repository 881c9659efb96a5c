import type { CoreDataSecurityContext } from '../../../../src/sandbox/core-data/core-data.ts';
import type { Cube, Policy } from '../../../../src/sandbox/core-data/model.ts';
import { accessOf } from '../../../../src/sandbox/core-data/policy.ts';
import { SALES_MODEL } from '../../../../src/sandbox/core-data/sales-model.ts';
import { contextOfClaims } from '../../../../src/sandbox/core-data/security-context.ts';

const [template] = SALES_MODEL.cubes;

function access(policies: readonly Policy[], context: Partial<CoreDataSecurityContext>) {
  return accessOf({ ...(template as Cube), policies }, { groups: [], userAttributes: {}, ...context });
}
const own = (group: string, ...values: string[]): Policy => ({
  group,
  filters: [{ dimension: 'country', operator: 'equals', values }],
});
const COUNTRY = '{ userAttributes.country }';
const some = (...alternatives: string[][]) => by('equals', ...alternatives);
const by = (operator: string, ...alternatives: string[][]) => ({
  kind: 'some',
  alternatives: alternatives.map((values) => [{ dimension: 'country', operator, values }]),
});

test('without policies every row is visible; with policies of which none matches, no row', () => {
  expect(access([], {})).toEqual({ kind: 'all' });
  expect(access([own('analysts', 'DE')], { groups: ['others'] })).toEqual({ kind: 'none' });
  expect(access([own('*', 'DE')], {})).toEqual(some(['DE']));
});

test('several matching policies combine their rows, and one without filters gives all rows', () => {
  const policies = [own('analysts', COUNTRY), own('french', 'FR'), { group: 'everything', filters: [] }];
  const userAttributes = { country: 'DE' };
  expect(access(policies, { groups: ['analysts', 'french'], userAttributes })).toEqual(some(['DE'], ['FR']));
  expect(access(policies, { groups: ['analysts', 'everything'], userAttributes })).toEqual({ kind: 'all' });
});

test('a template renders a list as joined text, and a missing attribute as the word undefined', () => {
  const policies = [own('analysts', COUNTRY)];
  const groups = ['analysts'];
  expect(access(policies, { groups, userAttributes: { country: ['DE', 'FR'] } })).toEqual(some(['DE,FR']));
  expect(access(policies, { groups, userAttributes: { country: 7 } })).toEqual(some(['7']));
  expect(access(policies, { groups, userAttributes: { country: [] } })).toEqual(some(['']));
  for (const userAttributes of [{}, { Country: 'DE' }]) {
    expect(access(policies, { groups, userAttributes })).toEqual(some(['undefined']));
  }
  expect(access([own('*', '{ userAttributes.toString }')], {})).toEqual(some(['undefined']));
});

test('a policy filter on a list attribute uses the list, and throws for a text, an empty list or a missing attribute', () => {
  const filters = [{ dimension: 'country', operator: 'in' as const, values: 'userAttributes.countries' }];
  const at = (userAttributes: Record<string, string | string[]>) =>
    access([{ group: '*', filters }], { userAttributes });
  expect(at({ countries: ['DE', 'US'] })).toEqual(by('in', ['DE', 'US']));
  expect(() => at({ countries: 'DE' })).toThrow('does not match any of the allowed types');
  for (const attributes of [{ countries: [] }, {}])
    expect(() => at(attributes)).toThrow('Values required for filter');
});

test('claims are read inside the wrapper only, and only with the right types', () => {
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
