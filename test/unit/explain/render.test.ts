// Tests the lines of an explanation.
import type { Explanation } from '../../../src/explain/explanation.ts';
import { renderExplanations } from '../../../src/explain/render.ts';

/** The explanation of a user without values, memberships and events. */
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
/** Returns the lines of ANN with other `facts`: one page, or with `all` everything. */
const lines = (facts: object, all = false): string[] =>
  renderExplanations([{ ...ANN, ...facts } as unknown as Explanation], { all })[0] ?? [];

test('repeated events in the timeline of explain are one line with their number and newest time', () => {
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

test('explain does not show the generation of the mark of a waiting change', () => {
  const text = lines({ mark: { generation: '8297', state: 'due' } }).join('\n');
  expect(text).toContain('a change waits');
  expect(text).not.toContain('8297');
});

test('explain prints a command with a long id whole on one line', () => {
  const command =
    'scim-bridge approvals withdraw default.main.1001783-1001839~c0ffee00c0ffee00c0ffee005ab214864e8a --ref User:1y7mhfxrhdcffq95d9dk';
  const reason = `op rejected changes of this person at 2026-01-01T00:00:00.000Z: ${command} takes it back.`;
  expect(lines({ reasons: [reason] }).find((line) => line.includes(command))).toBeDefined();
});

test('explain of a user with few values and groups prints every long reason in full, within 36 lines', () => {
  const reasons = Array.from(
    { length: 5 },
    (_, at) => `Fact ${at} ${'and more '.repeat(50)}so do this ${at}.`,
  );
  const page = lines({ reasons });
  expect(page.length).toBeLessThanOrEqual(36);
  // `…` at the start of the summary is the sign of a change that is on its way.
  expect(page.join('\n').match(/…/g)).toHaveLength(1);
  for (const at of reasons.keys()) expect(page.join('\n')).toContain(`so do this ${at}.`);
});

test('the text of explain exceeds 36 lines → the middle of a long reason is cut, its end is kept, and --all and --json are named', () => {
  const reason = `Fact ${'and more '.repeat(150)}so do this.`;
  const page = lines({ ...stuckAt('main'), reasons: [reason] });
  expect(page.length).toBeLessThanOrEqual(36);
  expect(page.join('\n')).toMatch(/Fact .* …\n[^]*so do this[.]\n/);
  expect(page.at(-1)).toBe('Everything: --all, or --json.');
});

const TWO_CASES =
  'if they are two people, correct the userName of one of them at its identity provider; ' +
  'if they are one, delete the person there and wait until the account is closed, then retry';

test('a cut reason keeps an advice for two cases whole if it fits', () => {
  const reason = `The account ${'and more '.repeat(150)}: ${TWO_CASES}`;
  const page = lines({ ...stuckAt('main'), reasons: [reason] });
  expect(page.join(' ').replace(/\s+/g, ' ')).toContain(` … ${TWO_CASES}`);
});

test('a cut reason ends with … where an advice for two cases does not fit, so that no case is shown alone', () => {
  const reason = `The account ${'and more '.repeat(20)}: ${TWO_CASES}, ${'and again '.repeat(40)}`;
  const [page = []] = pagesOf(
    ['main', 'east', 'west'].map((each) => ({ ...stuckAt(each), reasons: [reason] })),
  );
  const shown = page.join(' ').replace(/\s+/g, ' ');
  expect(shown).toContain('The account and more');
  expect(shown).not.toContain('then retry');
  expect(page.filter((line) => line.startsWith('    ')).at(-1)).toMatch(/ …$/);
});

/** Facts of an explanation of which each part is longer than a page. */
const stuckAt = (target: string) => ({
  target,
  verdict: 'held',
  reasons: Array.from({ length: 12 }, (_, at) => `Reason ${at} ${'of some length '.repeat(9)}`),
  stored: { version: 3, externalId: 'e'.repeat(150), generation: '3' },
  values: Array.from({ length: 12 }, (_, at) => ({
    name: `level${at} of ${target}`,
    desired: 1,
    applied: 2,
    state: 'differs',
  })),
  memberships: Array.from({ length: 60 }, (_, at) => ({
    ref: `Group:${at}`,
    name: `team ${at} of ${target}`,
    state: 'toRemove',
    because: 'leaves with the account',
  })),
  timeline: Array.from({ length: 40 }, (_, at) => ({
    at: `t${at}`,
    event: 'stored',
    text: `change ${at} at ${target}`,
  })),
});
const pagesOf = (facts: object[]): string[][] =>
  renderExplanations(
    facts.map((each) => ({ ...ANN, ...each }) as unknown as Explanation),
    { all: false },
  );
/** Number of lines with an empty line between two pages. */
const height = (pages: string[][]): number => pages.flat().length + pages.length - 1;

test('explain of a name that two people have at one target names each person alone, and --target only where it tells them apart', () => {
  const ends = (facts: object[]): unknown[] => pagesOf(facts).map((lines) => lines.at(-1));
  const everything = 'Everything: --all, or --json.';
  expect(ends([stuckAt('main'), { ...stuckAt('main'), ref: 'User:2' }])).toEqual([
    `More: scim-bridge explain ${ANN.ref}. ${everything}`,
    `More: scim-bridge explain User:2. ${everything}`,
  ]);
  const [first] = ends(
    ['main', 'other'].flatMap((target) => [stuckAt(target), { ...stuckAt(target), ref: 'User:2' }]),
  );
  expect(first).toBe(`More: scim-bridge explain ${ANN.ref} --target main. ${everything}`);
});

test('explain with two long explanations fits 50 lines, shows the start of each part, and writes a repeated cause as "as above"', () => {
  const stuck = stuckAt('main');
  const both = pagesOf([stuck, { ...stuckAt('other'), ref: 'User:2' }]);
  expect(height(both)).toBeLessThanOrEqual(50);
  const [shown = []] = both;
  for (const part of ['Values (desired ← last applied):', 'Groups:', 'Timeline:'])
    expect(shown).toContain(part);
  for (const part of ['… and 10 more reasons', 'level0', 'team 0', 'change 39 at main'])
    expect([part, shown.join('\n').includes(part)]).toEqual([part, true]);
  expect(shown.at(-1)).toBe('More: --target main. Everything: --all, or --json.');
  const alone = lines(stuck).filter((line) => line.includes('team'));
  expect(alone.slice(0, 2)).toEqual([
    '  - team 0 of main (leaves with the account)',
    '  - team 1 of main (as above)',
  ]);
  expect(lines(stuck, true)).toContain('  - team 59 of main (leaves with the account)');
});

test('explain of a person at three targets fits 60 lines and shows the first differences at each', () => {
  const names = ['main', 'other', 'third'];
  const pages = pagesOf(names.map(stuckAt));
  expect(height(pages)).toBeLessThanOrEqual(60);
  for (const [at, name] of names.entries())
    for (const part of [
      `≠ level0 of ${name}`,
      `- team 0 of ${name}`,
      `change 39 at ${name}`,
      `--target ${name}`,
    ])
      expect([part, pages[at]?.join('\n').includes(part)]).toEqual([part, true]);
});

test('explain at a second target leaves out the head, record and lists that equal those of the first target', () => {
  const values = [{ name: 'title', desired: 'a', applied: 'b', state: 'differs' }];
  const stored = { version: 3, externalId: null, generation: '3' };
  const memberships = [{ ref: 'Group:1', name: 'ops', state: 'applied' }];
  const [, other = []] = pagesOf([
    { stored, values, memberships },
    { target: 'other', stored, values, memberships: [{ ...memberships[0], state: 'toAdd' }] },
  ]);
  const text = other.join('\n');
  expect(other[0]).toBe('default → other');
  expect(text).toContain('Values (desired ← last applied): as at main');
  expect(text).toContain('  + ops');
  expect(text).not.toContain('Stored:');
  expect(text).not.toContain('title');
});
