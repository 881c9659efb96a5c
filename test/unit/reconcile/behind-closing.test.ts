// Tests which changes a plan names as waiting for the held deactivation of a person.
import type { PlanEntry } from '../../../src/reconcile/entry.ts';
import { WAITS_FOR_GROUP } from '../../../src/reconcile/compare/group-case.ts';
import { waitingBehindClosing } from '../../../src/reconcile/unwritten/behind-closing.ts';
import { HELD_BY_GUARD, MEMBERSHIP_WAITS } from '../../../src/reconcile/unwritten/unwritten-reasons.ts';

const closing: PlanEntry = {
  action: 'deactivate',
  kind: 'User',
  ref: 'User:ann',
  platformId: '1',
  name: 'ann@acme.example',
  before: null,
  after: null,
  effect: 'report',
  reason: HELD_BY_GUARD,
  attribution: { cause: 'source changed' },
  basis: { version: 1, link: '' },
};
const joining = (group: string, wait: string): PlanEntry => ({
  ...closing,
  action: 'addMember',
  kind: 'Group',
  ref: `Group:${group}`,
  name: group,
  member: { ref: 'User:ann', platformId: '1', name: 'ann@acme.example' },
  reason: `member at the source${wait}`,
});

test('a person with a held deactivation joins two groups, of which the platform refuses one → only the other one waits for the decision', () => {
  const refused = joining('Refused', WAITS_FOR_GROUP);
  const entries = [closing, refused, joining('Sales', MEMBERSHIP_WAITS.held)];
  expect([...waitingBehindClosing(entries).values()]).toEqual([
    'waiting for the decision about the deactivation: the membership in Sales',
  ]);
});

test('all additions of a person with a held deactivation wait for refused groups → none is told to wait for the decision', () => {
  const refused = joining('Refused', WAITS_FOR_GROUP);
  expect(waitingBehindClosing([closing, refused]).size).toBe(0);
});
