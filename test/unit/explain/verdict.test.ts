// Tests the verdict and the summary of an explanation.
import type { ExplainedFacts } from '../../../src/explain/explanation.ts';
import { toVerdict } from '../../../src/explain/verdict.ts';

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
const told = (facts: object) => toVerdict({ ...ANN, ...facts } as unknown as ExplainedFacts);

const level = { name: 'attributes.level', desired: null, applied: null, state: 'unmappable', reason: 'text' };
const team = { name: 'attributes.team', desired: 'red', applied: 'blue', state: 'differs' };

test('explain does not announce that a reconcile will write a value that cannot be mapped', () => {
  expect(told({ values: [level] }).summary).toContain(
    'no run brings it before the rule or the value is corrected',
  );
  expect(told({ values: [level, team] }).summary).toContain('brings it, except what cannot be mapped');
  expect(told({ values: [team] }).summary).toMatch(/sync User:1, brings it\.$/);
});

test('explain gives values that cannot be mapped because of the same fault as one reason', () => {
  const levels = Array.from({ length: 8 }, (_, at) => ({
    ...level,
    name: `attributes.level${at}`,
    reason: 'is string',
  }));
  const reasons: string[] = told({ values: [...levels, { ...level, reason: 'is empty' }] }).reasons;
  expect(reasons.filter((reason) => reason.includes('cannot be mapped'))).toEqual([
    'attributes.level0, attributes.level1, attributes.level2, attributes.level3, attributes.level4 and 3 more cannot be mapped: is string.',
    'attributes.level cannot be mapped: is empty.',
  ]);
});

test('explain of a membership that the platform did not apply names time, cause and the person who can help', () => {
  const triedSince = '2026-01-01T00:00:00.000Z';
  const crew = { name: 'crew', state: 'toAdd', because: 'the platform left 1 of 1 members out', triedSince };
  const { verdict, summary } = told({ memberships: [crew] });
  expect(verdict).toBe('onItsWay');
  expect(summary).toBe(
    `A change of ann is on its way to main and has failed since ${triedSince}: group crew: the platform left 1 of 1 members out. It is tried again; if it stays, ask the operator of the platform.`,
  );
  expect(told({ memberships: [{ name: 'crew', state: 'toAdd' }] }).summary).not.toContain('accepted');
});

test('explain calls a newly protected user left alone even before a sync has noted the protection', () => {
  const { verdict, summary } = told({ policy: { policy: 'sync', protected: true } });
  expect([verdict, summary]).toEqual(['leftAlone', 'ann is left alone at main: listed in users.protected.']);
});

test('explain calls a person as desired only as far as compared when groups were not compared', () => {
  const platform = { state: 'equal', differences: [], notCompared: 3 };
  const { verdict, summary, reasons } = told({ platform });
  expect([verdict, summary]).toEqual([
    'asDesired',
    'ann is at main as desired as far as it was compared: active, in 0 groups.',
  ]);
  expect(reasons).toContainEqual(expect.stringContaining('3 groups of the person were not compared'));
});
