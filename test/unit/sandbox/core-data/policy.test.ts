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
const some = (...alternatives: string[][]) => ({
  kind: 'some',
  alternatives: alternatives.map((values) => [{ dimension: 'country', values }]),
});

test('without policies a person sees all rows; with policies of which none matches, no rows', () => {
  expect(access([], {})).toEqual({ kind: 'all' });
  expect(access([own('analysts', 'DE')], { groups: ['others'] })).toEqual({ kind: 'none' });
  expect(access([own('*', 'DE')], {})).toEqual(some(['DE']));
});

test('several matching policies give the union of their rows, and one without filters all rows', () => {
  const policies = [own('analysts', COUNTRY), own('french', 'FR'), { group: 'everything', filters: [] }];
  const userAttributes = { country: 'DE' };
  expect(access(policies, { groups: ['analysts', 'french'], userAttributes })).toEqual(some(['DE'], ['FR']));
  expect(access(policies, { groups: ['analysts', 'everything'], userAttributes })).toEqual({ kind: 'all' });
});

test('a reference takes one value or several; without a value its policy matches no row', () => {
  const policies = [own('analysts', COUNTRY)];
  const groups = ['analysts'];
  expect(access(policies, { groups, userAttributes: { country: ['DE', 'FR'] } })).toEqual(some(['DE', 'FR']));
  expect(access(policies, { groups, userAttributes: { country: 7 } })).toEqual(some(['7']));
  for (const userAttributes of [{}, { country: [] }, { Country: 'DE' }]) {
    expect(access(policies, { groups, userAttributes })).toEqual(some());
  }
  expect(access([own('*', '{ userAttributes.toString }')], {})).toEqual(some());
});

test('claims count inside the wrapper only, and only in the right types', () => {
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
