// Tests that an operator's order without effect says so and leaves no audit entry.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';

let place: Place;
let ann: string;
beforeAll(async () => {
  place = await openPlace({ target: { guard: { deactivate: { count: 0, percent: 0 } } } });
  ann = await place.idp.createUser(ANN);
  await place.idle();
});
afterAll(() => place.stop());

const orders = async (): Promise<string[]> =>
  (await place.commands.run('acts', '--json')).text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).act);

test('release without a hold, and dead-letters retry and drop without a dead letter, say that nothing was done', async () => {
  for (const [command, words] of [
    [['release'], 'was not changed, it is released'],
    [['dead-letters', 'retry', '--all'], 'There is no dead letter: nothing is tried again.'],
    [['dead-letters', 'drop', ANN], 'None of these is a dead letter'],
    [['events', 'retry'], 'No event was refused.'],
    [['token', 'revoke', 'former'], 'has no token former'],
  ] as const)
    expect((await place.commands.run(...command)).text).toContain(words);
  await expect(orders()).resolves.toEqual([]);
});

test('an approval is decided a second time → the command exits 1 and names the earlier decision, its time and its operator', async () => {
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  const id: string = (await place.commands.run('approvals', 'list', '--json')).json[0].id;
  const decide = (action: string) => place.commands.run('approvals', action, id, '--yes', '--by', 'alice');
  expect((await decide('reject')).code).toBe(0);
  await place.idle();
  const again = await decide('reject');
  expect(again.code).toBe(1);
  expect(again.text).toMatch(
    new RegExp(`Approval ${id} was rejected at 20[^ ]* by alice: nothing of it is left to reject`),
  );
  expect((await decide('approve')).code).toBe(0);
  await place.idle();
  for (const action of ['approve', 'withdraw']) {
    const late = await decide(action);
    expect(late.code).toBe(1);
    expect(late.text).toMatch(/was approved at 20[^ ]* by alice: nothing of it is left to/);
  }
  await expect(orders()).resolves.toEqual(['approve', 'reject']);
});
