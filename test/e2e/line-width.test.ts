// Tests that lines of the commands fit 100 columns with long names, that no name is cut, and that commands stay on one line.
import { openPlace, type Place } from '../support/situation.ts';

const LEAVER = `${'anna-sophie-'.repeat(6)}x@subsidiary.acme.example`.slice(-80);
const PERSON = `${'bernadette-'.repeat(7)}y@acme.example`.slice(-80);
const GROUP = 'Department of Very Important Financial Affairs and Compliance';
const none = { count: 0, percent: 0 };

let place: Place;
beforeAll(async () => {
  place = await openPlace({ target: { guard: { deactivate: none, removeMembers: none } } });
  const { idp } = place;
  const leaver = await idp.createUser(LEAVER);
  const person = await idp.createUser(PERSON);
  const group = await idp.createGroup(GROUP, [leaver, person]);
  await place.idle();
  await idp.patch(`/Users/${leaver}`, { op: 'replace', path: 'active', value: false });
  await idp.patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${person}"]` });
  await place.idle();
  await place.commands.run('reconcile', '--yes');
}, 60_000);
afterAll(() => place.stop());

const tooLong = (lines: string[]): string[] => lines.filter((line) => [...line].length > 100);

test.each([
  ['status', [LEAVER, GROUP]],
  ['plan', [LEAVER, GROUP]],
  ['log', [LEAVER, PERSON, GROUP]],
  ['exceptions', [LEAVER, GROUP]],
  [`explain --all ${LEAVER}`, [LEAVER, GROUP]],
  [`explain ${LEAVER}`, []],
  [`sync --dry-run ${LEAVER}`, [LEAVER]],
  ['approvals list', []],
  ['doctor', []],
])(
  'no output line of the command %s has more than 100 columns, and names are printed whole',
  async (words, names) => {
    const { lines, text } = await place.commands.run(...words.split(' '));
    expect(lines.length).toBeGreaterThan(0);
    expect(tooLong(lines)).toEqual([]);
    for (const name of names) expect(text).toContain(name);
  },
);

test('explain finds a group by its long name, and approvals show prints every name in full within 100 columns', async () => {
  expect(tooLong((await place.commands.run('explain', '--all', GROUP)).lines)).toEqual([]);
  const [approval] = (await place.commands.run('approvals', 'list', '--json')).json;
  const { lines, text } = await place.commands.run('approvals', 'show', approval.id);
  expect(tooLong(lines)).toEqual([]);
  expect(text).toContain(`${PERSON} leaves ${GROUP}: not a member of the group at the source`);
});

test('explain and exceptions print each advised command on one line, even beyond 100 columns', async () => {
  const [approval] = (await place.commands.run('approvals', 'list', '--json')).json;
  // The id of a decision about a part contains a digest, which makes the command long.
  await place.commands.run('approvals', 'reject', approval.id, '--person', LEAVER, '--yes');
  await place.idle();
  const [{ ref, reasons }] = (await place.commands.run('explain', LEAVER, '--json')).json;
  const [command = ''] = /scim-bridge approvals withdraw \S+ --ref \S+/.exec(reasons.join(' ')) ?? [];
  expect(command).toContain(ref);
  expect(command).toContain('~');
  for (const words of [['explain', LEAVER], ['exceptions']]) {
    const { lines } = await place.commands.run(...words);
    expect(lines.some((line) => line.includes(command))).toBe(true);
  }
});

test('log --csv does not wrap long rows', async () => {
  const { lines, text } = await place.commands.run('log', '--csv');
  expect(lines.join('\n')).toBe(text);
  expect(lines.every((line) => line.split(',').length > 10)).toBe(true);
});
