// Tests that explain tells the truth about changes that wait for a decision, were decided, or were made by hand at the platform.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const NONE = { count: 0, percent: 0 };

let place: Place;
const ids = new Map<string, string>();
beforeEach(async () => {
  const attributes = { team: { type: 'string', from: 'nickName' } };
  const guard = { deactivate: NONE, delete: NONE, removeMembers: NONE, clearAttributes: NONE };
  place = await openPlace({ target: { guard, attributes } });
  for (const name of [ANN, BOB]) ids.set(name, await place.idp.createUser(name, { nickName: 'red' }));
  await place.idle();
});
afterEach(() => place.stop());

const idOf = (name: string): string => ids.get(name) ?? '';
const explain = async (name: string) => (await place.commands.run('explain', name, '--json')).json[0];

async function leaveGroup(group: string, name: string): Promise<void> {
  await place.idp.patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${idOf(name)}"]` });
  await place.idle();
}

test('a change that waits for a held removal waits for a person', async () => {
  const finance = await place.idp.createGroup('Finance', [idOf(ANN), idOf(BOB)]);
  await place.idle();
  await leaveGroup(finance, ANN);
  await place.idp.patch(`/Users/${idOf(ANN)}`, { op: 'replace', path: 'nickName', value: 'blue' });
  const found = await eventually('the change waits', async () => {
    const each = await explain(ANN);
    return each.reasons.join(' ').includes('It waits until Finance is left.') ? each : undefined;
  });
  expect(found.verdict).toBe('held');
  expect(found.summary).toContain('a person has to approve or reject it');
}, 30_000);
