// Tests the lines of an explanation.
import type { Explanation } from '../../../src/explain/explanation.ts';
import { renderExplanation } from '../../../src/explain/render.ts';

const ANN = {
  kind: 'User',
  ref: 'User:1',
  name: 'ann',
  connection: 'default',
  target: 'main',
  verdict: 'onItsWay',
  summary: 'A change of ann is on its way.',
  reasons: [],
  stored: null,
  inScope: true,
  condition: null,
  nameAtTarget: 'ann',
  values: [],
  memberships: [],
  members: null,
  mark: null,
  platform: null,
  timeline: [],
  leftByHand: [],
  fleet: [],
  link: { platformId: '1', account: null, origin: null, active: true },
  policy: { policy: 'sync', adopt: 'exact', deprovision: 'deactivate' },
};
const lines = (facts: object, all = false): string[] =>
  renderExplanation({ ...ANN, ...facts } as unknown as Explanation, { all });

test('equal pairs of events are one line, with their number and the newest time', () => {
  const at = (second: number): string => `2026-01-01T00:00:0${second}.000Z`;
  const pair = (second: number) => [
    { at: at(second), event: 'accepted', text: `ordered by a reconcile (run-${second})` },
    { at: at(second), event: 'noted', text: 'failed, tried again: status 503' },
  ];
  const timeline = [pair(1), pair(2), pair(3)].flat();
  expect(lines({ timeline }, true).slice(-2)).toEqual([
    `  ${at(3)}  accepted  ordered by a reconcile (run-3) (3 times)`,
    `  ${at(3)}  noted     failed, tried again: status 503 (3 times)`,
  ]);
});

test('the line of a waiting change does not show the generation of its mark', () => {
  const text = lines({ mark: { generation: '8297', state: 'due' } }).join('\n');
  expect(text).toContain('a change waits');
  expect(text).not.toContain('8297');
});

test('a command with a long id stays whole on one line of the page', () => {
  const command =
    'scim-bridge approvals withdraw default.main.1001783-1001839~c0ffee00c0ffee00c0ffee005ab214864e8a --ref User:1y7mhfxrhdcffq95d9dk';
  const reason = `op rejected changes of this person at 2026-01-01T00:00:00.000Z: ${command} takes it back.`;
  expect(lines({ reasons: [reason] }).find((line) => line.includes(command))).toBeDefined();
});
