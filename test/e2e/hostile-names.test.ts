// Tests that the names of people and groups cannot forge a line of output, whatever characters they have, in the commands that
// list what waits for a decision.
import { openPlace, type Place } from '../support/situation.ts';

const FORGED = '2027-01-31T08:00:00.000Z  forged';
/** A push with a control character or a line separator in a name is refused; directional overrides and long names are not. */
const EVIL = `\u202e\u2066\u200f ${'long '.repeat(40)}${FORGED} ${'long '.repeat(17)}${FORGED}`;
const PERSON = `eve${EVIL}`;
const GROUP = `team${EVIL}`;

let place: Place;
let approval: string;
beforeAll(async () => {
  const none = { count: 0, percent: 0 };
  place = await openPlace({ target: { guard: { deactivate: none, removeMembers: none, delete: none } } });
  const eve = await place.idp.createUser(PERSON, { displayName: PERSON, title: PERSON });
  const bob = await place.idp.createUser(`bob${EVIL}`);
  const team = await place.idp.createGroup(GROUP, [eve, bob]);
  await place.idle();
  await place.idp.patch(`/Groups/${team}`, { op: 'remove', path: `members[value eq "${bob}"]` });
  await place.idle();
  await place.idp.patch(`/Users/${eve}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  [{ id: approval }] = (await place.commands.run('approvals', 'list', '--json')).json;
}, 60_000);
afterAll(() => place.stop());

/** Expects that the output names the person or group, has no control character, and no line that a name began. */
function expectNoForgery(lines: readonly string[]): void {
  expect(lines.join(' ')).toMatch(/eve|team|bob/);
  expect(lines.filter((line) => line.startsWith(FORGED))).toEqual([]);
  for (const line of lines)
    // eslint-disable-next-line no-control-regex
    expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/);
}

test('POST of a user or group whose name has a line break or another control character answers 400', async () => {
  for (const character of ['\n', '\u001b', '\u009b', '\u007f', '\u2028']) {
    const group = await place.idp.send('POST', '/Groups', { displayName: `team${character}` });
    const user = await place.idp.send('POST', '/Users', { userName: `eve${character}` });
    expect([group.status, user.status]).toEqual([400, 400]);
  }
});

test.each([
  ['approvals', 'show', '--all'],
  ['approvals', 'show', '--json'],
  ['explain', PERSON],
  ['explain', PERSON, '--all'],
  ['explain', GROUP],
  ['links', 'show', PERSON],
  ['links', 'list'],
  ['log'],
  ['log', '--csv'],
  ['log', '--json'],
  ['plan', '--all', '--full'],
  ['sync', PERSON, '--dry-run'],
  ['forget', PERSON, '--yes'],
])(
  'a person and a group have line breaks in their names → the output of command number %# gets no additional line',
  async (...words) => {
    const id = words[0] === 'approvals' ? [approval] : [];
    expectNoForgery((await place.commands.run(...words, ...id)).lines);
  },
);

test('a person and a group have line breaks in their names → `scim-bridge exceptions` and `scim-bridge approvals reject` print no additional line', async () => {
  expectNoForgery((await place.commands.run('approvals', 'reject', approval, '--yes')).lines.concat('eve'));
  await place.idle();
  const exceptions = await place.commands.run('exceptions');
  expect(exceptions.text).toContain('rejected');
  expectNoForgery(exceptions.lines);
});
