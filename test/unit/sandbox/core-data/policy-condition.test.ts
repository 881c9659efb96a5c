// Tests the conditions of access policies.
import { parseCondition } from '../../../../src/sandbox/core-data/policy-condition.ts';

const context = {
  groups: ['crew', 'night'],
  userAttributes: { yes: true, no: false, empty: '', none: [], level: 3, site: 'DE', sites: ['DE', 'US'] },
};

test.each<[string, boolean]>([
  ['{ userAttributes.yes }', true],
  ['{userAttributes.no}', false],
  ['{ userAttributes.missing }', false],
  ['{ userAttributes.toString }', false],
  ['{ userAttributes.empty }', false],
  // An empty list counts as true, as in JavaScript.
  ['{ userAttributes.none }', true],
  ['{ userAttributes.level }', true],
  ['{ !userAttributes.no }', true],
  ['{ not user_attributes.yes }', false],
  ["{ userAttributes.site === 'DE' }", true],
  ['{ userAttributes.site == "US" }', false],
  ["{ userAttributes.site != 'US' }", true],
  ['{ userAttributes.level === 3 }', true],
  ["{ userAttributes.level === '3' }", false],
  ["{ userAttributes.groups.includes('crew') }", true],
  ["{ userAttributes.groups.includes('Crew') }", false],
  ["{ 'US' in userAttributes.sites }", true],
  ["{ securityContext.cubeCloud.userAttributes.site === 'DE' }", true],
  ['{ userAttributes.no || userAttributes.level === 3 }', true],
  ['{ userAttributes.yes && !userAttributes.yes }', false],
  ['{ userAttributes.yes and not userAttributes.no or userAttributes.no }', true],
])('the policy condition %s evaluates to %s', (text, expected) => {
  expect(Boolean(parseCondition(text)?.(context))).toBe(expected);
});

test.each([
  'userAttributes.yes',
  '{ }',
  '{ process.exit(1) }',
  '{ userAttributes }',
  '{ userAttributes.a.b }',
  '{ userAttributes.yes && }',
  '{ f(userAttributes.yes) }',
  `{ ${'!'.repeat(2000)}userAttributes.yes }`,
])('the policy condition %s is refused as not parsable', (text) => {
  expect(parseCondition(text)).toBeUndefined();
});
