// Tests that a command in an advice can be run as it stands: each is taken from the output, and ends the situation.
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const EVE = 'eve@acme.example';
const HAL = 'hal@acme.example';

let place: Place;
beforeAll(async () => {
  place = await openPlace({ target: { guard: { deactivate: { count: 0, percent: 0 } } } });
  const { idp } = place;
  for (const name of [EVE, HAL]) {
    const id = await idp.createUser(name);
    await place.idle();
    await idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
  }
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

/** Returns the words of the first command that the sentence names. */
function commandIn(text: string, name: string): string[] {
  const [, words = ''] = new RegExp(`scim-bridge (${name}(?: [\\w.:-]*[.:-][\\w.:-]*\\w)*)`).exec(text) ?? [];
  return words.split(' ');
}
const advice = async (): Promise<Map<string, string>> => {
  const { json } = await place.commands.run('exceptions', '--json');
  return new Map(json.map(({ name, advice: words }: any) => [name, words]));
};

test('`scim-bridge exceptions` advises `approvals show` for a held change, and for a rejected one an `approvals withdraw` that affects this person only', async () => {
  const shown = commandIn((await advice()).get(EVE) ?? '', 'approvals show');
  expect((await place.commands.run(...shown)).text).toContain(EVE);
  const [approval] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'reject', approval.id, '--yes');
  await place.idle();
  const told = await advice();
  const explained = (await place.commands.run('explain', EVE, '--json')).json[0];
  const withdraw = commandIn(told.get(EVE) ?? '', 'approvals withdraw');
  expect(commandIn(explained.reasons.join(' '), 'approvals withdraw')).toEqual(withdraw);
  expect((await place.commands.run(...withdraw, '--yes')).code).toBe(0);
  await place.idle();
  expect([...(await advice())].map(([name, words]) => [name, / approvals (\w+)/.exec(words)?.[1]])).toEqual(
    expect.arrayContaining([
      [EVE, 'show'],
      [HAL, 'withdraw'],
    ]),
  );
});

test('`scim-bridge exceptions` advises a `release` for a target on hold and a `dead-letters retry` for a dead letter, and both printed commands succeed', async () => {
  await place.commands.run('hold');
  const hold = (await advice()).get('main') ?? '';
  expect((await place.commands.run(...commandIn(hold, 'release --target main'))).text).toContain('released');
  const { platformUrl, fixtures } = place.sandbox.ready;
  await place.change(({ targets }) => (targets.main.adopt = 'report'));
  await fetch(`${platformUrl}/api/scim/v2/Users`, {
    method: 'POST',
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: 'ida@acme.example',
      active: true,
    }),
  });
  const ida = await place.idp.createUser('ida@acme.example');
  await eventually('the dead letter is an exception', async () => (await advice()).has('ida@acme.example'));
  await place.change(({ targets }) => (targets.main.adopt = 'exact'));
  const words = commandIn((await advice()).get('ida@acme.example') ?? '', 'dead-letters retry');
  expect(words).toEqual(['dead-letters', 'retry', `User:${ida}`]);
  await place.commands.run(...words);
  await place.idle();
  expect((await advice()).has('ida@acme.example')).toBe(false);
}, 60_000);
