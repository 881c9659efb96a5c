// Tests the reasons of an explanation: sentences about held and rejected changes.
import type { ExplainedFacts } from '../../../src/explain/explanation.ts';
import { reasonsOf } from '../../../src/explain/reasons.ts';

/** Facts about a group of which nothing is pending, held or different. */
const SETTLED = {
  kind: 'Group',
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
  suspectedDrift: [],
  policy: { policy: 'sync' },
  lookAgainAt: null,
  restored: null,
  inScope: true,
  leftByHand: [],
  rejections: [],
  firstApprovals: [],
};
/** Returns all sentences about the settled group with other `facts`, as one text. The summary is '', so it replaces no sentence. */
const reasons = (facts: object): string =>
  reasonsOf({ ...SETTLED, ...facts } as unknown as ExplainedFacts, '').join(' ');

const removal = (subject: string) => ({ kind: 'removeMembers', subject, state: 'held' });
/** A membership in, or member of, a resource with a held change. */
const held = (name: string) => ({ name, state: 'applied', condition: 'Held' });
/** Approval 1 of the connection `default` at the target `main`. */
const approval = 'default.main.1';

test('explain of a group with two held removals says "the removal of 2 members" and "2 removals of members"', () => {
  const text = reasons({ approval, guard: [removal('1'), removal('2')] });
  expect(text).toContain('The approval default.main.1 holds the removal of 2 members:');
  expect(text).toContain('Held, of what the guard judged: 2 removals of members.');
});

test('explain says "its group" for one group with a held change, and "its members" for two such members', () => {
  expect(reasons({ kind: 'User', approval, memberships: [held('sales')] })).toContain(
    'holds changes of its group sales:',
  );
  expect(reasons({ approval, memberships: [held('ann'), held('bob')] })).toContain(
    'holds changes of its members ann, bob:',
  );
});

test('explain of held changes of two groups with one name adds their refs', () => {
  const memberships = [
    { ...held('sales'), ref: 'Group:1' },
    { ...held('sales'), ref: 'Group:2' },
    { ...held('crew'), ref: 'Group:3' },
  ];
  expect(reasons({ kind: 'User', approval, memberships })).toContain(
    'holds changes of its groups sales (Group:1), sales (Group:2), crew:',
  );
});

test('explain of a rejected change does not say when the resource is looked at again', () => {
  const lookAgainAt = '2026-01-01T00:00:00.000Z';
  const exception = { reason: 'Rejected', since: lookAgainAt };
  expect(reasons({ exception, lookAgainAt })).not.toContain('looked at again');
  expect(reasons({ lookAgainAt })).toContain(`It is looked at again by itself at ${lookAgainAt}.`);
});

test('a held deactivation is no longer wanted by the source → explain says that a run ends the wait', () => {
  const guard = [{ kind: 'deactivate', subject: null, state: 'held' }];
  const exception = { reason: 'Held', since: '2026-01-01T00:00:00.000Z' };
  const person = { kind: 'User', ref: 'User:1', guard, exception };
  expect(reasons({ ...person, stored: { active: false } })).toContain(
    'held by the guard: no run writes the held change before a person decides or the guard judges it anew.',
  );
  const text = reasons({ ...person, stored: { active: true } });
  expect(text).toContain('ends what waits for a decision');
  expect(text).not.toContain('no run writes');
});
