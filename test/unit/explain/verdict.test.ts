// Tests the verdict and the summary of an explanation.
import type { ExplainedFacts } from '../../../src/explain/explanation.ts';
import { toVerdict } from '../../../src/explain/verdict.ts';

/** Facts about a user of whom nothing is pending, held or different. */
const ANN = {
  kind: 'User',
  ref: 'User:1',
  name: 'ann',
  target: 'main',
  condition: null,
  exception: null,
  mark: null,
  hold: null,
  breaker: null,
  pause: null,
  guard: [],
  fleet: [],
  memberships: [],
  members: null,
  values: [],
  link: { attempts: 0, creating: false, platformId: '1' },
  approval: null,
  approvalExpired: null,
  platform: null,
  stored: {},
  suspectedDrift: [],
  policy: { policy: 'sync' },
  lookAgainAt: null,
  restored: null,
  inScope: true,
  deadLetterSince: null,
  leftByHand: [],
  rejections: [],
  firstApprovals: [],
};
const explained = (facts: object) => toVerdict({ ...ANN, ...facts } as unknown as ExplainedFacts);

/** A value that the mapping cannot give, and one that differs. */
const level = { name: 'attributes.level', desired: null, applied: null, state: 'unmappable', reason: 'text' };
const team = { name: 'attributes.team', desired: 'red', applied: 'blue', state: 'differs' };

test('explain of a value that cannot be mapped does not say that a reconcile writes the value', () => {
  expect(explained({ values: [level] }).summary).toContain(
    'no run brings it before the rule or the value is corrected',
  );
  expect(explained({ values: [level, team] }).summary).toContain('brings it, except what cannot be mapped');
  expect(explained({ values: [team] }).summary).toMatch(/sync User:1, brings it\.$/);
});

test('explain of 8 values with one fault shows the fault once, with 5 names and the number of the remaining values', () => {
  const levels = Array.from({ length: 8 }, (_, at) => ({
    ...level,
    name: `attributes.level${at}`,
    reason: 'is string',
  }));
  const reasons: string[] = explained({ values: [...levels, { ...level, reason: 'is empty' }] }).reasons;
  expect(reasons.filter((reason) => reason.includes('cannot be mapped'))).toEqual([
    'attributes.level0, attributes.level1, attributes.level2, attributes.level3, attributes.level4 and 3 more cannot be mapped: is string.',
    'attributes.level cannot be mapped: is empty.',
  ]);
});

test('the platform confirmed an addition but did not make it → explain says since when, and to ask the operator of the platform', () => {
  const triedSince = '2026-01-01T00:00:00.000Z';
  const crew = { name: 'crew', state: 'toAdd', because: 'the platform left 1 of 1 members out', triedSince };
  const { verdict, summary } = explained({ memberships: [crew] });
  expect(verdict).toBe('onItsWay');
  expect(summary).toBe(
    `A change of ann is on its way to main and has failed since ${triedSince}: group crew: the platform left 1 of 1 members out. It is tried again; if it stays, ask the operator of the platform.`,
  );
  expect(explained({ memberships: [{ name: 'crew', state: 'toAdd' }] }).summary).not.toContain('accepted');
});

test('a user in users.protected without a stored condition has the verdict leftAlone', () => {
  const { verdict, summary } = explained({ policy: { policy: 'sync', protected: true } });
  expect([verdict, summary]).toEqual(['leftAlone', 'ann is left alone at main: listed in users.protected.']);
});

test('3 groups of a person were not compared → explain says "as desired as far as it was compared", with the number 3', () => {
  const platform = { state: 'equal', differences: [], notCompared: 3 };
  const { verdict, summary, reasons } = explained({ platform });
  expect([verdict, summary]).toEqual([
    'asDesired',
    'ann is at main as desired as far as it was compared: active, in 0 groups.',
  ]);
  expect(reasons).toContainEqual(expect.stringContaining('3 groups of the person were not compared'));
});
